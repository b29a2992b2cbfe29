"""A dataset whose repository is another one now: the clone of the old one goes, unless somebody has worked in it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.kills import Kills
from tests.agents.transfer.agent import Cube as S3Cube
from tests.agents.transfer.faults import Proxy
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, author
from tests.agents.transfer.git.server import Forge
from tests.agents.transfer.server import Storage
from tests.tier import KILLS

TARGET = {"target": {"kind": "Dataset", "namespace": "ml", "name": "corpus"}}
OLD = {"a": b"old a", "folder/b": b"b", ".gitignore": b"*.tmp\n"}
NEW = {"a": b"new a"}
OTHER_NAME, SAME_NAME = "other.git", "v2/model.git"
"""Repositories to which the source moves: the clone of one has another name, and that of the other the same."""


@pytest.fixture
def filled(cube: Cube, writer: Author) -> Cube:
    """A dataset with a clone of `model.git`."""
    found = replace(cube, options=TARGET)
    writer.commit(OLD)
    assert found.download().code == 0
    return found


@pytest.fixture(params=[OTHER_NAME, SAME_NAME])
def moved(filled: Cube, forge: Forge, proxy: Proxy, tmp_path: Path, request: pytest.FixtureRequest) -> Cube:
    """The same dataset, with another repository as its source."""
    author(tmp_path / "other", forge, request.param).commit(NEW)
    return replace(filled, url=f"{proxy.url}/{request.param}")


def entries(cube: Cube) -> list[str]:
    """What is in the directory of the dataset."""
    return sorted(each.name for each in (cube.claim / "data").iterdir())


def revision(cube: Cube) -> str | None:
    """What the marker of the dataset vouches for."""
    found: str | None = json.loads((cube.state / "complete.json").read_text(encoding="utf-8")).get("revision")
    return found


def test_the_old_clone_goes(filled: Cube, moved: Cube) -> None:
    ended = moved.download()
    assert ended.code == 0, ended.output
    assert (entries(moved), tree(moved.clone)) == ([moved.clone.name], NEW)
    assert (ended.last["filesDeleted"], ended.last["filesUnknown"]) == (len(OLD), 0)
    assert f"{len(OLD)} files that the source no longer has were deleted" in ended.last["message"]
    assert str(filled.clone) in ended.output
    assert revision(moved) == moved.head
    assert list((moved.state / "removed").iterdir()) == []
    again = moved.download()
    assert (again.code, again.last["filesDeleted"], revision(moved)) == (0, 0, moved.head)


def edit(cube: Cube) -> None:
    (cube.clone / "a").write_bytes(b"mine")


def stage(cube: Cube) -> None:
    (cube.clone / "mine").write_bytes(b"mine")
    cube.git("add", "mine")


def add(cube: Cube) -> None:
    (cube.clone / "folder/mine").write_bytes(b"mine")


def add_ignored(cube: Cube) -> None:
    (cube.clone / "mine.tmp").write_bytes(b"mine")


def commit(cube: Cube) -> None:
    cube.git("-c", "user.name=I", "-c", "user.email=i@example.com", "commit", "-q", "--allow-empty", "-m", "Mine")


def commit_elsewhere(cube: Cube) -> None:
    cube.git("checkout", "-q", "-b", "mine")
    commit(cube)
    cube.git("checkout", "-q", "main")


def stash(cube: Cube) -> None:
    edit(cube)
    cube.git("-c", "user.name=I", "-c", "user.email=i@example.com", "stash")


def nest(cube: Cube) -> None:
    shutil.copytree(cube.clone, cube.clone / "folder/nested", ignore=shutil.ignore_patterns("folder"))


@pytest.mark.parametrize(
    ("moved", "work", "reason", "names"),
    [
        (OTHER_NAME, edit, "Dirty", "'a'"),
        (SAME_NAME, edit, "Dirty", "'a'"),
        (OTHER_NAME, stage, "Dirty", "'mine'"),
        (OTHER_NAME, add, "Untracked", "'folder/mine'"),
        (SAME_NAME, add_ignored, "Untracked", "'mine.tmp'"),
        (OTHER_NAME, nest, "Untracked", "'folder/nested/'"),
        (SAME_NAME, commit, "LocalCommits", ""),
        (OTHER_NAME, commit_elsewhere, "LocalCommits", ""),
        (OTHER_NAME, stash, "LocalCommits", ""),
    ],
    ids=lambda each: getattr(each, "__name__", None),
    indirect=["moved"],
)
def test_work_of_somebody_is_not_lost(
    filled: Cube, moved: Cube, work: Callable[[Cube], None], reason: str, names: str
) -> None:
    work(filled)
    before = tree(filled.clone)
    ended = moved.download()
    assert (ended.code, ended.last["reason"]) == (5, reason), ended.output
    assert str(filled.clone) in ended.last["message"]
    assert names in ended.last["message"]
    assert "or remove the clone" in ended.last["message"]
    assert (entries(moved), tree(filled.clone)) == (["model"], before)
    assert not moved.hidden.exists(), "nothing is fetched before"
    shutil.rmtree(filled.clone)
    assert moved.download().code == 0
    assert (entries(moved), tree(moved.clone)) == ([moved.clone.name], NEW)


@pytest.mark.parametrize("moved", [OTHER_NAME], indirect=True)
def test_too_many(filled: Cube, moved: Cube) -> None:
    ended = replace(moved, options={**TARGET, "maxDelete": 2}).download()
    assert (ended.code, ended.last["reason"]) == (5, "TooManyDeletions")
    assert tree(filled.clone) == OLD
    assert filled.download().last["filesUnchanged"] == len(OLD)


def test_an_empty_repository_takes_nothing_away(filled: Cube, forge: Forge, proxy: Proxy) -> None:
    forge.repository("empty.git")
    ended = replace(filled, url=f"{proxy.url}/empty.git").download()
    assert (ended.code, ended.last["reason"]) == (5, "EmptySource")
    assert tree(filled.clone) == OLD


def test_a_clone_of_0_1_0_stays(filled: Cube, moved: Cube) -> None:
    """It had no record of what it brought."""
    shutil.rmtree(filled.claim / ".stowplan/brought")
    ended = moved.download()
    assert tree(filled.clone) == OLD
    if filled.clone == moved.clone:
        assert (ended.code, ended.last["reason"]) == (5, "OtherOrigin")
        assert "remove it" in ended.last["message"]
        return
    assert (ended.code, ended.last["filesDeleted"], ended.last["filesUnknown"]) == (0, 0, 1)
    assert "other files are there" in ended.last["message"]
    assert revision(moved) is None
    assert moved.download().last["filesUnknown"] == 1
    shutil.rmtree(filled.clone)
    assert moved.download().code == 0
    assert revision(moved) == moved.head


@pytest.mark.parametrize("moved", [OTHER_NAME], indirect=True)
def test_a_data_cube_keeps_the_clones_of_other_repositories(filled: Cube, moved: Cube) -> None:
    shutil.rmtree(filled.claim / ".stowplan/brought")
    of_cube = replace(moved, options={})
    ended = of_cube.download()
    assert tree(filled.clone) == OLD
    assert (ended.code, ended.last["filesUnknown"], revision(of_cube)) == (0, 0, of_cube.head)
    assert not (filled.claim / ".stowplan/brought").exists()


@pytest.mark.parametrize("moved", [OTHER_NAME], indirect=True)
def test_a_directory_that_no_sync_has_brought_stays(filled: Cube, moved: Cube) -> None:
    """Also one that others name in the record, if it is no clone."""
    (filled.claim / "data/notes").mkdir()
    (filled.claim / "data/notes/own").write_bytes(b"own")
    (record,) = (filled.claim / ".stowplan/brought").iterdir()
    ((_, (source,)),) = owners(record).items()
    named = json.dumps(["notes/", 0, source])
    record.write_text(f"{record.read_text(encoding='utf-8')}{named}\n", encoding="utf-8")
    ended = moved.download()
    assert (ended.code, ended.last["filesUnknown"], revision(moved)) == (0, 1, None), ended.output
    assert entries(moved) == sorted([moved.clone.name, "notes"])


def test_the_same_repository_in_other_words_has_not_moved(filled: Cube) -> None:
    ended = replace(filled, url=filled.url.removesuffix(".git")).download()
    assert (ended.code, ended.last["filesUnchanged"]) == (0, len(OLD)), ended.output


@pytest.mark.parametrize("moved", [SAME_NAME], indirect=True)
def test_a_clone_that_comes_back(filled: Cube, moved: Cube) -> None:
    for each in (moved, filled, moved):
        assert each.download().code == 0
        assert (entries(each), revision(each)) == ([each.clone.name], each.head)


@pytest.mark.parametrize("edited", ["", "sub/b"])
def test_submodules_go_with_their_clone(cube: Cube, writer: Author, forge: Forge, tmp_path: Path, edited: str) -> None:
    inner = author(tmp_path / "inner", forge, "inner.git").commit({"b": b"b"})
    writer.git("update-index", "--add", "--cacheinfo", f"160000,{inner},sub")
    writer.commit({"a": b"a", ".gitmodules": b'[submodule "s"]\n\tpath = sub\n\turl = ../inner.git\n'})
    author(tmp_path / "other", forge, SAME_NAME).commit(NEW)
    filled = replace(cube, options=TARGET)
    assert filled.download(submodules=True).code == 0
    if edited:
        (filled.clone / edited).write_bytes(b"mine")
    ended = replace(filled, url=f"{filled.url.removesuffix('model.git')}{SAME_NAME}").download(submodules=True)
    if edited:
        assert (ended.code, ended.last["reason"], "sub have changes" in ended.last["message"]) == (5, "Dirty", True)
        return
    assert (ended.code, ended.last["filesDeleted"], tree(filled.clone)) == (0, 3, NEW), ended.output


def test_files_of_a_bucket_go(storage: Storage, forge: Forge, writer: Author, cube: Cube) -> None:
    storage.put({"v3/a": b"a", "v3/folder/b": b"b"})
    writer.commit(NEW)
    assert S3Cube(cube.folder, storage, options=TARGET).download("v3").code == 0
    ended = replace(cube, options=TARGET).download()
    assert (ended.code, ended.last["filesDeleted"]) == (0, 2), ended.output
    assert (entries(cube), tree(cube.clone)) == (["model"], NEW)


@pytest.mark.parametrize("moved", [SAME_NAME], indirect=True)
def test_kills(filled: Cube, moved: Cube) -> None:
    for number in (kills := Kills(KILLS)):
        with (moved, filled)[number % 2].started(run=f"run-{number}") as process:
            kills.strike(process)
    ended = moved.download()
    assert ended.code == 0, ended.output
    assert (entries(moved), tree(moved.clone), revision(moved)) == ([moved.clone.name], NEW, moved.head)
    assert list((moved.state / "removed").iterdir()) == []


def owners(record: Path) -> dict[str, list[str]]:
    """The sources in a record, by their owners."""
    found: dict[str, list[str]] = json.loads(record.read_text(encoding="utf-8").splitlines()[0])["owners"]
    return found


@pytest.mark.parametrize("moment", ["nothing removed", "removed", "in place"])
def test_each_moment_of_the_exchange(filled: Cube, moved: Cube, moment: str) -> None:
    """As SIGKILL leaves it, after the new record is in force."""
    (record,) = (filled.claim / ".stowplan/brought").iterdir()
    ((owner, (old,)),) = owners(record).items()
    kept = filled.folder / "kept"
    shutil.copytree(filled.clone, kept)
    assert moved.download().code == 0
    ((_, (new,)),) = owners(record).items()
    names = {f"{filled.clone.name}/": (0, old)} | {f"{moved.clone.name}/": (1, new)}
    lines = [
        {"format": 1, "owners": {owner: sorted([old, new])}},
        *([name, *rest] for name, rest in sorted(names.items())),
    ]
    record.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    (moved.state / "complete.json").unlink()
    if moment != "in place":
        moved.clone.rename(moved.hidden)
    if moment == "nothing removed":
        kept.rename(filled.clone)
    else:
        kept.rename(moved.state / "removed" / filled.clone.name)
    ended = moved.download()
    assert ended.code == 0, ended.output
    assert (entries(moved), tree(moved.clone), revision(moved)) == ([moved.clone.name], NEW, moved.head)
    assert not any((moved.state / "removed").iterdir())
