"""Canonical JSON: hashes in names are made of it, so no release may write it in another way."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.values.canonical_json import canonical, indented

LEAVES = st.none() | st.booleans() | st.integers() | st.text()
PLAIN = st.recursive(LEAVES, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=20)


@given(PLAIN)
def test_is_what_the_standard_library_writes(value: Any) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert indented(value) == json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False).encode()


def test_numbers_may_be_of_any_size() -> None:
    assert canonical({"b": [10**30], "a": -1}) == b'{"a":-1,"b":[1000000000000000000000000000000]}'
    assert indented({"size": 10**30}) == b'{\n  "size": 1000000000000000000000000000000\n}'
