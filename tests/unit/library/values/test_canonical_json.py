"""Canonical JSON: hashes in names depend on it, so no release may change it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.values.canonical_json import ascii_json, canonical, indented

LEAVES = st.none() | st.booleans() | st.integers() | st.text()
PLAIN = st.recursive(LEAVES, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=20)


@given(PLAIN)
def test_equals_the_output_of_the_standard_library(value: Any) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert indented(value) == json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False).encode()


def test_numbers_may_be_of_any_size() -> None:
    assert canonical({"b": [10**30], "a": -1}) == b'{"a":-1,"b":[1000000000000000000000000000000]}'
    assert indented({"size": 10**30}) == b'{\n  "size": 1000000000000000000000000000000\n}'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": [1, True, None], "a": "\u00e9\u2028\x7f"}, b'{"a":"\\u00e9\\u2028\\u007f","b":[1,true,null]}'),
        ([1e-5, 2.5e-7, 1e16, 5e-324, -1, 1.0], b"[1e-05,2.5e-07,1e+16,5e-324,-1,1.0]"),
        ([10**30, float("nan"), "\ud800"], b'[1000000000000000000000000000000,NaN,"\\ud800"]'),
    ],
)
def test_digests_are_made_of_ascii(value: Any, written: bytes) -> None:
    assert ascii_json(value) == written
