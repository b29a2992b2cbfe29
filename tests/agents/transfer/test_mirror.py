"""A destination that is made equal to its source."""

from pathlib import Path

import pytest

from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.server import Storage

KEPT = {"a": b"a", "d/a": b"da", "d-e": b"de"}


@pytest.fixture
def mirror(cube: Cube, proxy: Proxy) -> Cube:
    return Cube(cube.folder, cube.storage, proxy.url, {"mirror": {}})


def with_rule(cube: Cube, **rule: object) -> Cube:
    return Cube(cube.folder, cube.storage, cube.endpoint, {"mirror": rule})


def fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"extra")


EXTRA = ["z", "d/extra", "d!/x", "e/f/g", "0"]


def test_what_the_source_lacks_goes(mirror: Cube, storage: Storage) -> None:
    storage.put({**KEPT, "full/": b""})
    fill(mirror.data, EXTRA)
    (mirror.data / "empty/er").mkdir(parents=True)
    ended = mirror.download()
    assert ended.code == 0, ended.output
    assert files(mirror.data) == KEPT
    assert {path.name for path in mirror.data.iterdir()} == {"a", "d", "d-e", "full"}
    assert ended.last["filesDeleted"] == len(EXTRA)


def test_nothing_goes_when_a_file_could_not_come(mirror: Cube, storage: Storage, proxy: Proxy) -> None:
    storage.put(KEPT)
    fill(mirror.data, EXTRA)
    proxy.rule = lambda request: Fault(status=503) if request.path.endswith("/d-e") else None
    assert mirror.download().code == 10
    assert files(mirror.data) == {"a": b"a", "d/a": b"da", **dict.fromkeys(EXTRA, b"extra")}


def test_nothing_goes_when_the_listing_breaks_off(mirror: Cube, storage: Storage, proxy: Proxy) -> None:
    storage.put(KEPT)
    fill(mirror.data, EXTRA)
    proxy.rule = lambda _: Fault(change=lambda body: body.replace(b"Truncated>false", b"Truncated>true"))
    ended = mirror.download()
    assert ended.code == 5, ended.output
    assert files(mirror.data) == dict.fromkeys(EXTRA, b"extra")


def test_empty_source_is_refused_unless_allowed(mirror: Cube) -> None:
    fill(mirror.data, EXTRA)
    ended = mirror.download()
    assert (ended.code, ended.last["reason"]) == (5, "EmptySource")
    assert len(files(mirror.data)) == len(EXTRA)
    assert with_rule(mirror, allowEmpty=True).download().code == 0
    assert files(mirror.data) == {}


def test_more_deletions_than_allowed(mirror: Cube, storage: Storage) -> None:
    storage.put(KEPT)
    fill(mirror.data, EXTRA)
    ended = with_rule(mirror, maxDelete=4).download()
    assert (ended.code, ended.last["reason"]) == (5, "TooManyDeletions")
    assert files(mirror.data) == {**KEPT, **dict.fromkeys(EXTRA, b"extra")}
    assert with_rule(mirror, maxDelete=5).download().code == 0
    assert files(mirror.data) == KEPT


def test_links_and_what_they_lead_to_stay(mirror: Cube, storage: Storage, tmp_path: Path) -> None:
    storage.put(KEPT)
    fill(tmp_path / "outside", ["precious"])
    mirror.data.mkdir()
    (mirror.data / "link").symlink_to(tmp_path / "outside")
    ended = mirror.download()
    assert ended.code == 0, ended.output
    assert (mirror.data / "link").is_symlink()
    assert files(tmp_path / "outside") == {"precious": b"extra"}


def test_protected_directories_stay(mirror: Cube, storage: Storage) -> None:
    storage.put(KEPT)
    fill(mirror.claim, ["lost+found/x", ".snapshot/y", ".stowplan/datacubes/other/known.jsonl", "extra"])
    ended = mirror.download(path="", run="run")
    assert ended.code == 0, ended.output
    there = files(mirror.claim)
    assert {"lost+found/x", ".snapshot/y", ".stowplan/datacubes/other/known.jsonl", *KEPT} <= set(there)
    assert "extra" not in there


def test_neighbours_of_the_destination_stay(mirror: Cube, storage: Storage) -> None:
    storage.put(KEPT)
    fill(mirror.claim, ["data2/x", "y", "data/extra"])
    assert mirror.download().code == 0
    assert {"data2/x", "y"} <= set(files(mirror.claim))
    assert files(mirror.data) == KEPT
