"""Walking and creating folders without following links."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_key, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.tree import Tree

NAMES = st.text("ab-./!0é", min_size=1, max_size=6)


@given(st.lists(NAMES, max_size=12))
def test_walk_is_in_the_order_of_keys(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("walk")
    for name in names:
        path = folder.joinpath(*(part for part in name.split("/") if part.strip(".")))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError:
            continue
    tree = Tree(folder, "", create=False)
    keys = [f"{path}{'/' * entry.is_folder}" for path, entry, _ in walk(tree.root, by_key)]
    tree.close()
    assert keys == sorted(keys)
    there = {f"{path.relative_to(folder)}{'/' * path.is_dir()}" for path in folder.rglob("*")}
    assert set(keys) == there


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "claim").mkdir()
    return Tree(tmp_path / "claim", "deep/data", create=True)


def test_directories_are_made_on_the_way(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "new").write_text("x")
    tree.place("new", ClaimFolder.at(tmp_path), "a/b/c")
    assert (tmp_path / "claim/deep/data/a/b/c").read_text() == "x"


@pytest.mark.parametrize("link", ["deep", "deep/data", "deep/data/a"])
def test_links_are_not_followed(tree: Tree, tmp_path: Path, link: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "new").write_text("x")
    tree.close()
    place = tmp_path / "claim" / link
    if place.is_dir():
        place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "outside")
    with pytest.raises((OSError, AttemptError)):
        Tree(tmp_path / "claim", "deep/data", create=True).place("new", ClaimFolder.at(tmp_path), "a/b")
    assert list((tmp_path / "outside").iterdir()) == []


def test_descriptors_are_closed(tree: Tree) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(200):
        tree.make_directory(f"a/{number}/")
        tree.stat(f"a/{number}/x")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2
