"""Keys that can be files."""

import pytest

from stowplan.agents.copying.keys import KeyCheck


def look(*keys: str, folds: bool = False) -> list[str]:
    """Return the refused keys."""
    check = KeyCheck(folds_case=folds, reserved=(".stowplan",))
    assert list(keys) == sorted(keys)
    return [key for key in keys if not check.look(key)]


@pytest.mark.parametrize(
    "key",
    [
        ".stowplan",
        ".stowplan/x",
        ".Stowplan/x",
        ".STOWPLAN/locks/data",
        ".git",
        ".git/config",
        "a/.git/hooks/post-checkout",
        ".GIT/config",
        "a/.Git/",
        "a/b/.git",
    ],
)
def test_names_that_a_source_may_not_write(key: str) -> None:
    assert look(key) == [key]


def test_names_like_those_that_a_source_may_not_write() -> None:
    keys = [".gitattributes", ".gitignore", "a.git/config", "b/.stowplan/x", "c/git/config"]
    assert look(*keys) == []


def test_files_of_a_claim_may_be_sent_with_their_git_folder() -> None:
    assert KeyCheck(folds_case=False).look("a/.git/config")


def test_object_where_a_directory_must_be() -> None:
    assert look("a", "a!", "a-b", "a/b", "a/c", "a0", "a0/x", "b/c") == ["a/b", "a/c", "a0/x"]


def test_object_far_before_what_lies_below_it() -> None:
    between = [f"a-{number:05}" for number in range(5000)]
    assert look("a", *between, "a/b") == ["a/b"]


def test_folder_and_object_of_one_name() -> None:
    assert look("a", "a/") == ["a/"]
    assert look("a/", "a/b", "a/b/") == ["a/b/"]


def test_keys_that_differ_in_case_collide_only_if_the_destination_folds_case() -> None:
    keys = ("A/x", "README", "Readme", "a/x")
    assert look(*keys) == []
    assert look(*keys, folds=True) == ["Readme", "a/x"]


def test_reserved_names_are_those_at_the_top() -> None:
    assert look(".stowplan/x", "a/.stowplan") == [".stowplan/x"]


def test_the_first_ten_are_kept() -> None:
    check = KeyCheck(folds_case=False)
    for number in range(30):
        check.look(f"{number:02}\\")
    assert (check.count, len(check.refused)) == (30, 10)
