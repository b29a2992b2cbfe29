"""A dataset whose source moves holds what the new source lists, and nothing else that its syncs have brought."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import Dataset, files
from tests.agents.cache.volume import FORGETS
from tests.agents.ended import Ended
from tests.agents.transfer.test_filled_claim import delete

GONE = ("a-b", "a/b", "a0", "deep/er/one", "deep/two", "q*[a] #", "sp ace", "\u00e4/\U0001f600")
STAY = (
    "a.d",
    "a/b.own",
    "a/b0",
    "a01",
    "deep.own",
    "q*",
    "qba #",
    "sp",
    "sp ace.d",
    "\u00e4/\U0001f601",
    "\u00e4b",
)
"""Files of others: neighbours of those that go in the order of keys, and what their names as patterns would match."""

OLD = {key: key.encode() for key in (*GONE, "both")}
NEW = {"both": b"new both", "new/d": b"d"}


class Filled:
    """A dataset in a volume or a claim, which is filled from prefixes of a bucket."""

    def __init__(self, dataset: Dataset, data: Path, **fields: Any) -> None:
        self.dataset, self.data, self.fields, self.count = dataset, data, fields, 0

    def sync(self, prefix: str, **fields: Any) -> Ended:
        self.count += 1
        source = f"{self.dataset.source}{prefix}/"
        return self.dataset.sync(f"sync-{self.count}", source=source, **self.fields, **fields)

    def put(self, prefix: str, objects: dict[str, bytes]) -> None:
        self.dataset.put({f"{prefix}/{key}": data for key, data in objects.items()})

    def write(self, *keys: str) -> None:
        """Files of others."""
        for key in keys:
            (self.data / key).parent.mkdir(parents=True, exist_ok=True)
            (self.data / key).write_bytes(b"own")

    def fill(self) -> None:
        self.put("v3", OLD)
        self.put("v4", NEW)
        ended = self.sync("v3")
        assert ended.code == 0, ended.output
        assert files(self.data) == OLD

    @property
    def record(self) -> Path:
        (found,) = (self.data / ".stowplan/listings").glob("*-brought")
        return found

    @property
    def revision(self) -> str | None:
        """What the marker of the dataset vouches for."""
        found: str | None = json.loads((self.data / ".stowplan/complete.json").read_text(encoding="utf-8")).get(
            "revision"
        )
        return found


@pytest.fixture
def volume_cube(dataset: Dataset, mounts: NewMounts) -> Filled:
    (node,) = mounts(1, options=FORGETS)
    return Filled(dataset, node.path)


@pytest.fixture(params=["volume", "claim"])
def filled(request: pytest.FixtureRequest, dataset: Dataset, tmp_path: Path) -> Filled:
    if request.param == "volume":
        found: Filled = request.getfixturevalue("volume_cube")
        return found
    (tmp_path / "claim").mkdir()
    return Filled(dataset, tmp_path / "claim", mountPath=str(tmp_path / "claim"))


def counts(ended: Ended) -> tuple[int, int]:
    return ended.last["filesDeleted"], ended.last["filesUnknown"]


def test_old_files_go_and_others_stay(filled: Filled) -> None:
    filled.fill()
    before = filled.revision
    filled.write(*STAY)
    (filled.data / "empty").mkdir()
    ended = filled.sync("v4")
    assert ended.code == 0, ended.output
    assert files(filled.data) == {**NEW, **dict.fromkeys(STAY, b"own")}
    assert counts(ended) == (len(GONE), len(STAY))
    assert (filled.data / "empty").exists()
    assert not (filled.data / "deep").exists(), "nothing is in it any more"
    assert before
    assert filled.revision is None, "the source does not list all files"
    assert ended.last["message"] == (
        "The dataset holds every file of the source; 8 files that the source no longer has were deleted; 11 other files"
        " are there, which the source does not list; 2 files are new, 0 were there"
    )
    for key in STAY:
        (filled.data / key).unlink()
    again = filled.sync("v4")
    assert (again.last["filesUnchanged"], *counts(again)) == (len(NEW), 0, 0)
    assert filled.revision


def test_a_file_that_the_same_source_no_longer_has_stays_and_is_told(filled: Filled) -> None:
    filled.fill()
    delete(filled.dataset.storage, "v3/a0")
    ended = filled.sync("v3")
    assert (ended.code, counts(ended), filled.revision) == (0, (0, 1), None)
    assert "; 1 other files are there, which the source does not list; " in ended.last["message"]
    assert filled.sync("v4").code == 0
    assert files(filled.data) == NEW, "it was brought by a sync"


def test_too_many(volume_cube: Filled) -> None:
    volume_cube.fill()
    ended = volume_cube.sync("v4", maxDelete=len(GONE) - 1)
    assert (ended.code, ended.last["reason"]) == (5, "TooManyDeletions")
    assert files(volume_cube.data) == OLD
    assert volume_cube.sync("v3").last["filesUnchanged"] == len(OLD)
    assert counts(volume_cube.sync("v4", maxDelete=len(GONE))) == (len(GONE), 0)


def test_volumes_of_0_1_0_have_no_record(volume_cube: Filled) -> None:
    volume_cube.fill()
    volume_cube.record.unlink()
    ended = volume_cube.sync("v4")
    assert (ended.code, *counts(ended)) == (0, 0, len(GONE))
    assert files(volume_cube.data) == {**OLD, **NEW}


def test_a_record_that_others_have_changed(volume_cube: Filled) -> None:
    volume_cube.fill()
    volume_cube.record.write_bytes(volume_cube.record.read_bytes()[:-5])
    assert counts(volume_cube.sync("v4")) == (0, len(GONE))


def test_a_sync_that_was_interrupted_is_a_source_too(filled: Filled) -> None:
    filled.put("v3", {"a": b"a", "later": b"later"})
    filled.put("v4", {"d": b"d"})
    (filled.data / "later").mkdir(parents=True)
    ended = filled.sync("v3")
    assert ended.code, "a folder of others is in the way"
    assert (filled.data / "a").exists()
    (filled.data / "later").rmdir()
    ended = filled.sync("v4")
    assert ended.code == 0, ended.output
    assert files(filled.data) == {"d": b"d"}


def test_a_file_becomes_a_folder_and_a_folder_a_file(filled: Filled) -> None:
    filled.put("v3", {"one": b"file", "two/er/x": b"inside"})
    filled.put("v4", {"one/x": b"inside", "two": b"file"})
    assert filled.sync("v3").code == 0
    ended = filled.sync("v4")
    assert ended.code == 0, ended.output
    assert files(filled.data) == {"one/x": b"inside", "two": b"file"}
    assert counts(ended) == (2, 0)


def test_what_links_lead_to_is_not_deleted(filled: Filled) -> None:
    filled.fill()
    filled.write("elsewhere/er/one", "elsewhere/two")
    for name in ("deep/er/one", "deep/two", "a0"):
        (filled.data / name).unlink()
    (filled.data / "deep/er").rmdir()
    (filled.data / "deep").rmdir()
    (filled.data / "deep").symlink_to("elsewhere")
    (filled.data / "a0").symlink_to("elsewhere/two")
    ended = filled.sync("v4")
    assert ended.code == 0, ended.output
    assert (filled.data / "elsewhere/er/one").exists()
    assert (filled.data / "elsewhere/two").exists()
    assert (filled.data / "a0").is_symlink()
    assert (filled.data / "deep").is_symlink()
    assert counts(ended) == (len(GONE) - 3, 5)


def test_sources_of_others_in_the_same_destination(volume_cube: Filled) -> None:
    """Two SampleJobs may fill one directory, each from its own source."""
    other = {"target": {"kind": "SampleJob", "namespace": "ml", "name": "other"}}
    volume_cube.fill()
    assert counts(volume_cube.sync("v4", **other)) == (0, len(GONE))
    assert counts(volume_cube.sync("v3")) == (0, 1)
    assert files(volume_cube.data) == {**NEW, **OLD}
    volume_cube.put("v5", {"e": b"e"})
    assert counts(volume_cube.sync("v5")) == (len(OLD), 1)
    assert files(volume_cube.data) == {"e": b"e", "new/d": b"d"}


def test_options_that_select_files_delete_none(volume_cube: Filled) -> None:
    volume_cube.fill()
    for flags in ({"exclude": "x"}, {"update": True}, {"ignore-existing": True}):
        ended = volume_cube.sync("v4", flags=flags)
        assert (ended.code, *counts(ended)) == (0, 0, 0)
    assert set(files(volume_cube.data)) == {*OLD, *NEW}


def test_a_source_of_which_nothing_is_selected(volume_cube: Filled) -> None:
    volume_cube.fill()
    ended = volume_cube.sync("v4", exclude=["*"])
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")
    assert files(volume_cube.data) == OLD
