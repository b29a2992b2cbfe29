"""Folders in folders: in order, as deep as they are, and removed without leaving the claim."""

import os
from collections import deque
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim import walk as module
from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_key, by_name, empty, empty_folders, remove, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from tests.hostile import deep


def paths(folder: Path) -> list[str]:
    with ClaimFolder.at(folder) as root:
        return [each.path for each in walk(root, by_name)]


def test_orders(tmp_path: Path) -> None:
    for name in ("a/x", "a-b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert paths(tmp_path) == ["a", "a/x", "a-b"]
    with ClaimFolder.at(tmp_path) as root:
        assert [each.path for each in walk(root, by_key)] == ["a-b", "a", "a/x"]
        assert [each.path for each in walk(root, by_name, lambda path, _: path == "a")] == ["a-b"]


@pytest.mark.parametrize("levels", [0, 2, 64])
def test_folders_that_are_closed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, levels: int) -> None:
    monkeypatch.setattr(module, "OPEN_LEVELS", levels)
    for name in ("a/b/c/d", "a/b/x/y", "a/z/y"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
    there = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert paths(tmp_path) == there


def test_deep_folders() -> None:
    with deep.place() as folder:
        deep.nest(folder)
        with ClaimFolder.at(folder) as root:
            met = walk(root, by_name)
            last = deque(met, maxlen=1)[0]
            assert last.path == f"{deep.NAME}/" * deep.DEEP + "file"


def test_few_folders_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    with deep.place() as folder:
        deep.nest(folder)
        with ClaimFolder.at(folder) as root:
            before, met = opened(), walk(root, by_name)
            assert max(opened() for _ in met) <= before + module.OPEN_LEVELS + 2


def test_folders_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/b/c", "a/d", "e/f", "e/g"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "e/f/link").symlink_to("nowhere")
    with ClaimFolder.at(tmp_path) as root:
        assert empty_folders(root, "a") == ["a", "a/d", "a/b", "a/b/c"]
        assert empty_folders(root, "e") == []
        monkeypatch.setattr(module, "MOST_EMPTY", 3)
        assert empty_folders(root, "a") == []


def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b").chmod(0)
    user = os.geteuid()
    with ClaimFolder.at(tmp_path) as root:
        if user == 0:
            os.seteuid(65534)
        try:
            assert empty_folders(root, "a") == []
        finally:
            os.seteuid(user)


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_folders_that_are_too_deep() -> None:
    with deep.place() as folder:
        deep.nest(folder, deep.FAR, deep.LONG_NAME)
        with pytest.raises(AttemptError, match=r"more than 4000 bytes\. Move it up, or remove it") as raised:
            paths(folder)
        assert (raised.value.code, raised.value.reason) == (ExitCode.CONFLICT, "UnsafeKeys")
        assert len(str(raised.value)) < 500


def test_everything_is_removed_however_deep() -> None:
    with deep.place() as folder:
        deep.nest(folder / "x")
        with ClaimFolder.at(folder) as root:
            remove(root, "x")
            remove(root, "x")
        assert list(folder.iterdir()) == []


def test_links_are_removed_themselves(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "file").touch()
    claim = tmp_path / "claim"
    (claim / "folder/inner").mkdir(parents=True)
    for number, target in enumerate(("", "inner", "file")):
        for path in ("", "folder", "folder/inner"):
            (claim / path / f"{number}").symlink_to(outside / target)
    with ClaimFolder.at(claim) as root:
        empty(root)
    assert list(claim.iterdir()) == []
    assert sorted(path.name for path in outside.rglob("*")) == ["file", "inner"]
