"""Patterns and speed of transfers with a real S3 server."""

import time
from pathlib import Path

import pytest

from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_upload import below, write

OBJECTS = {
    "config.json": b"{}",
    "model.bin": b"m",
    "deep/model.bin": b"d",
    "deep/note.tmp": b"t",
    "logs/a/1": b"1",
    "[odd].bin": b"o",
}


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (["*.bin", "config.json"], ["deep/"], {"config.json", "model.bin", "[odd].bin"}),
        ([], ["logs/", "*.tmp"], {"config.json", "model.bin", "deep/model.bin", "[odd].bin"}),
    ],
)
def test_patterns_select_what_comes(
    cube: Cube, storage: Storage, include: list[str], exclude: list[str], expected: set[str]
) -> None:
    storage.put(below("from/", OBJECTS))
    ended = cube.download("from", include=include, exclude=exclude)
    assert ended.code == 0, ended.output
    assert files(cube.data) == {key: OBJECTS[key] for key in expected}


def test_patterns_select_what_goes(cube: Cube, storage: Storage) -> None:
    write(cube.data, OBJECTS)
    ended = cube.upload("to", include=["*.bin"], exclude=["deep/"])
    assert ended.code == 0, ended.output
    assert set(storage.read()) == {"to/model.bin", "to/[odd].bin"}


def test_mirror_leaves_alone_what_the_patterns_leave_out(cube: Cube, storage: Storage) -> None:
    storage.put(OBJECTS)
    mirror = Cube(cube.folder, cube.storage, cube.endpoint, {"mirror": {}})
    write(mirror.data, {"deep/mine.tmp": b"mine", "old.bin": b"old", "my/notes.tmp": b"n"})
    ended = mirror.download(exclude=["*.tmp"])
    assert ended.code == 0, ended.output
    expected = {key: data for key, data in OBJECTS.items() if not key.endswith(".tmp")}
    assert files(mirror.data) == {**expected, "deep/mine.tmp": b"mine", "my/notes.tmp": b"n"}


@pytest.mark.parametrize(("options", "code", "reason"), [({}, 4, "NotFound"), ({"mirror": {}}, 5, "EmptySource")])
def test_patterns_that_match_nothing_are_an_error(
    cube: Cube, storage: Storage, options: dict[str, object], code: int, reason: str
) -> None:
    storage.put(OBJECTS)
    write(cube.data, {"kept": b"k"})
    ended = Cube(cube.folder, cube.storage, cube.endpoint, options).download(include=["*.bim"])
    assert (ended.code, ended.last["reason"]) == (code, reason), ended.output
    assert "patterns" in ended.last["message"]
    assert files(cube.data) == {"kept": b"k"}


def timed(cube: Cube, folder: Path, *, upload: bool) -> float:
    began = time.monotonic()
    ended = cube.upload("to") if upload else cube.download("from")
    assert ended.code == 0, ended.output
    assert (folder / "large").read_bytes() == large()
    return time.monotonic() - began


@pytest.mark.parametrize("upload", [False, True], ids=["download", "upload"])
def test_speed_is_limited_for_all_streams_together(cube: Cube, storage: Storage, *, upload: bool) -> None:
    rate = len(large()) // 3
    slow = Cube(cube.folder, cube.storage, cube.endpoint, {"maxBytesPerSecond": rate})
    if upload:
        write(slow.data, {"large": large()})
    else:
        storage.put({"from/large": large()})
    assert timed(slow, slow.data, upload=upload) >= 2.0
