"""Names that files can have."""

import pytest

from stowplan.schema.file_names import problem


@pytest.mark.parametrize("key", ["a", "a/b", "a/", "…", ".a", "..a", "a ", "a/..b", "x" * 255, "*?[", "%2e%2e/"])
def test_good(key: str) -> None:
    assert problem(key) is None


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/a",
        "a//b",
        "a//",
        ".",
        "..",
        "./a",
        "a/..",
        "a/../b",
        "a\\b",
        "a\0b",
        "\x7f",
        "a\nb",
        "x" * 256,
        "/".join(["x" * 200] * 21),
        "ä" * 128,
        "\udc80",
    ],
)
def test_bad(key: str) -> None:
    assert problem(key) is not None
