"""Patterns that JuiceFS accepts or ignores, by the rules of Go's `path.Match`."""

import pytest

from stowplan.schema.juicefs.options import STORAGES
from stowplan.schema.juicefs.sync_keys import KEY_VARIABLES, is_ignored


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "*.tmp",
        "d/*",
        "/a/***",
        "a?b",
        "a]",
        "a-b",
        "[0-9]",
        "[^a-z]*",
        "[[]",
        "[^^]",
        r"\[",
        r"[\]]",
        r"\\",
        "[a\nb]",
        "date=2024-*/",
        "=",
        "[=]",
        "-a",
    ],
)
def test_patterns_that_are_read(pattern: str) -> None:
    assert not is_ignored(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["-a=b", "--exclude=a", "-=", "[", "[a", "[]", "[]a]", "[^]", "[a-]", "[-a]", "[a-b-c]", "a\\", "[\\]", "*[a"],
)
def test_patterns_that_are_passed_over(pattern: str) -> None:
    assert is_ignored(pattern)


def test_keys_are_for_storages_that_a_source_may_name() -> None:
    assert set(KEY_VARIABLES) <= STORAGES
