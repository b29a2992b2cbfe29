"""Digests of specs are made of this, and runs are kept by them: no release may write it in another way."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stowplan.compiler.specs.digest_json import ascii_json

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text('\\"a\x7f\n.-')
PLAIN = st.recursive(LEAVES, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=20)


def standard(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@given(PLAIN)
@example(["\\", 1.5e-7, "\\"])
@example({"a": "\ud800"})
@example([float("nan")])
def test_is_what_the_standard_library_writes(value: Any) -> None:
    assert ascii_json(value) == standard(value)


@given(st.floats())
def test_numbers_of_any_kind_are_written_alike(number: float) -> None:
    assert ascii_json({"cpu": number}) == standard({"cpu": number})


@pytest.mark.parametrize("value", [1e-5, 2.5e-7, 1e16, 5e-324, -1, 10**30, "\x7f", "é", "\u2028", 'a\\"b', None])
def test_what_other_writers_write_otherwise(value: Any) -> None:
    assert ascii_json([value, "a"]) == standard([value, "a"])
