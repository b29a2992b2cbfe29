"""A destination whose source moves holds what the new source lists, and nothing else that copies have brought."""

import json
import shutil
from pathlib import Path

import pytest

from tests.agents.transfer.agent import STATE, Cube, files
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_filled_claim import delete

OLD = {"a": b"old a", "b": b"old b", "folder/c": b"c", "turned": b"a file"}
NEW = {"b": b"new b", "d": b"d", "turned/inside": b"a folder"}


TARGET = {"target": {"kind": "Dataset", "namespace": "ml", "name": "images"}}


@pytest.fixture
def cube(storage: Storage, tmp_path: Path) -> Cube:
    return Cube(tmp_path, storage, options=TARGET)


@pytest.fixture
def filled(cube: Cube, storage: Storage) -> Cube:
    storage.put({f"v3/{key}": data for key, data in OLD.items()} | {f"v4/{key}": data for key, data in NEW.items()})
    assert cube.download("v3").code == 0
    return cube


def revision(cube: Cube) -> str | None:
    """What the marker of the destination vouches for."""
    found: str | None = json.loads((cube.state / "complete.json").read_text(encoding="utf-8")).get("revision")
    return found


def test_old_files_go_and_others_stay(filled: Cube) -> None:
    before = revision(filled)
    own = filled.data / "own/deep"
    own.mkdir(parents=True)
    for name in ("1", "2"):
        (own / name).write_bytes(b"own")
    ended = filled.download("v4")
    assert ended.code == 0, ended.output
    assert files(filled.data) == {**NEW, "own/deep/1": b"own", "own/deep/2": b"own"}
    assert not (filled.data / "folder").exists()
    assert (ended.last["filesDeleted"], ended.last["filesUnknown"]) == (3, 1), "a folder of others is not looked into"
    assert before
    assert revision(filled) is None, "the source does not list what is there"
    shutil.rmtree(filled.data / "own")
    again = filled.download("v4")
    assert (again.last["filesUnchanged"], again.last["filesUnknown"]) == (len(NEW), 0)
    assert revision(filled)


def test_a_file_that_the_same_source_no_longer_has_stays_and_is_told(filled: Cube, storage: Storage) -> None:
    delete(storage, "v3/a")
    ended = filled.download("v3")
    assert (ended.code, ended.last["filesUnknown"], revision(filled)) == (0, 1, None)
    assert ended.last["message"].endswith("1 other files are there, which the source does not list")
    assert filled.download("v4").code == 0
    assert files(filled.data) == NEW, "it was brought by a copy"


def test_folders_without_files_hold_nothing(filled: Cube) -> None:
    """A copy leaves them that is killed before the first file in them has its name."""
    for name in ("d/1/2", "empty/deep", "-"):
        (filled.data / name).mkdir(parents=True)
    ended = filled.download("v4")
    assert (ended.code, ended.last["filesUnknown"]) == (0, 0), ended.output
    assert files(filled.data) == NEW
    assert revision(filled)


def test_a_folder_with_a_file_of_others_in_the_place_of_a_file(filled: Cube) -> None:
    (filled.data / "d/1").mkdir(parents=True)
    (filled.data / "d/1/own").write_bytes(b"own")
    ended = filled.download("v4")
    assert (ended.code, ended.last["reason"]) == (5, "IsADirectory"), ended.output
    assert "/d is a folder with files" in ended.last["message"]
    assert (filled.data / "d/1/own").read_bytes() == b"own"


def test_too_many(filled: Cube) -> None:
    limited = Cube(filled.folder, filled.storage, options={**TARGET, "maxDelete": 2})
    ended = limited.download("v4")
    assert (ended.code, ended.last["reason"]) == (5, "TooManyDeletions")
    assert files(filled.data) == OLD
    assert filled.download("v3").last["filesUnchanged"] == len(OLD)


def test_files_of_0_1_0_stay(filled: Cube) -> None:
    """It had no record of what it brought."""
    for each in (filled.claim / ".stowplan/brought").iterdir():
        each.unlink()
    (filled.data / "turned").unlink()
    ended = filled.download("v4")
    assert (ended.code, ended.last["filesDeleted"], ended.last["filesUnknown"]) == (0, 0, 2)
    assert files(filled.data) == {"a": b"old a", "folder/c": b"c", **NEW}


def test_a_copy_that_was_interrupted_is_a_source_too(cube: Cube, storage: Storage) -> None:
    storage.put({"v3/a": b"a", "v3/later": b"later"})
    storage.put({"v4/d": b"d"})
    (cube.data / "later").mkdir(parents=True)
    (cube.data / "later/own").touch()
    one_at_a_time = Cube(cube.folder, storage, options={**TARGET, "parallelism": 1})
    assert one_at_a_time.download("v3").code == 5, "a folder of others is in the way"
    assert (cube.data / "a").exists()
    shutil.rmtree(cube.data / "later")
    assert cube.download("v4").code == 0
    assert files(cube.data) == {"d": b"d"}


@pytest.mark.parametrize("forged", ['["own", 0, "0123456789abcdef"]\n', ""])
def test_names_that_others_add_to_the_record(filled: Cube, forged: str) -> None:
    """Who may write to the record may delete the files as well; a record that cannot be read deletes nothing."""
    (filled.data / "own").write_bytes(b"own")
    (record,) = (filled.claim / ".stowplan/brought").iterdir()
    head, *lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text(head + "[[\n" + "".join(lines) + forged, encoding="utf-8")
    ended = filled.download("v4")
    assert ended.last["filesDeleted"] == 0
    assert (filled.data / "own").exists()


def test_a_data_cube_says_itself_whether_it_deletes(filled: Cube) -> None:
    (filled.data / "turned").unlink()
    ended = Cube(filled.folder, filled.storage).download("v4")
    assert (ended.code, ended.last["filesDeleted"], ended.last["filesUnknown"]) == (0, 0, 2)


def test_links_are_not_deleted(filled: Cube) -> None:
    (filled.data / "b").rename(filled.claim / "elsewhere")
    (filled.data / "a").unlink()
    (filled.data / "a").symlink_to(filled.claim / "elsewhere")
    ended = filled.download("v4")
    assert (ended.code, ended.last["filesUnknown"]) == (0, 1)
    assert (filled.data / "a").is_symlink()


def test_revision_of_a_hub(repo: HubCube) -> None:
    repo = repo.with_options(**TARGET)
    first = repo.hub.store.put(repo.repository, OLD)
    assert repo.with_options(environment={"REVISION": first}).download(revisionEnv="REVISION").code == 0
    second = repo.hub.store.put(repo.repository, {"b": b"new b"}, gone=["a", "folder/c", "turned"])
    ended = repo.with_options(environment={"REVISION": second}).download(revisionEnv="REVISION")
    assert ended.code == 0, ended.output
    assert {key: data for key, data in files(repo.data).items() if key != ".gitattributes"} == {"b": b"new b"}


def test_two_tasks_with_sources_of_their_own_take_nothing_from_each_other(cube: Cube, storage: Storage) -> None:
    storage.put({"one/a": b"a", "one/both": b"1", "two/b": b"b", "two/both": b"2", "three/c": b"c"})

    def task(name: str) -> Cube:
        target = {"kind": "SampleJob", "namespace": "ml", "name": name}
        state = {**STATE, "directory": f".stowplan/samplejobs/{name}"}
        return Cube(cube.folder, storage, options={"target": target, "state": state})

    for name in ("one", "two", "one", "two"):
        ended = task(name).download(name)
        assert (ended.code, ended.last["filesDeleted"]) == (0, 0), ended.output
    assert files(cube.data) == {"a": b"a", "b": b"b", "both": b"2"}
    ended = task("one").download("three")
    assert (ended.code, ended.last["filesDeleted"]) == (0, 1), ended.output
    assert files(cube.data) == {"b": b"b", "both": b"2", "c": b"c"}, "the other task has brought `both` last"
