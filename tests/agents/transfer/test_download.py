"""From a real S3 server to a directory."""

import json
import os
import random
from pathlib import Path

import pytest

from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy, listing_of, with_keys
from tests.agents.transfer.server import Storage

ODD = "odd !\"#$%&'()*+,-.:;<=>?@[]^_`{|}~ %20 é"
SMALL = {"a.txt": b"a", "deep/er/b.txt": b"b" * 70_000, "deep-er": b"", ODD: b"x"}


def large(size: int = 12_000_000, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311 - content of a test


def test_everything_comes_and_comes_once(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    objects = {**SMALL, "large": large()}
    storage.put(objects)
    first = watched.download()
    assert first.code == 0, first.output
    assert files(watched.data) == objects
    assert first.last["filesDone"] == len(objects)
    before, stats = len(proxy.requests), {path: path.stat() for path in watched.data.rglob("*")}
    again = watched.download()
    assert again.code == 0, again.output
    assert again.last["filesUnchanged"] == len(objects)
    assert {each.method for each in proxy.requests[before:] if not each.is_listing} == set()
    assert {path: path.stat().st_ino for path in watched.data.rglob("*")} == {p: s.st_ino for p, s in stats.items()}


def test_only_what_changed_is_fetched(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put(SMALL)
    assert watched.download().code == 0
    storage.put({"a.txt": b"A"})
    (watched.data / "deep-er").write_bytes(b"edited here")
    before = len(proxy.requests)
    assert watched.download().code == 0
    assert files(watched.data) == {**SMALL, "a.txt": b"A"}
    fetched = {each.path.rpartition("/")[2] for each in proxy.requests[before:] if not each.is_listing}
    assert fetched == {"a.txt", "deep-er"}


def test_lost_state_costs_time_alone(cube: Cube, storage: Storage) -> None:
    storage.put(SMALL)
    assert cube.download().code == 0
    for each in cube.state.glob("*.json*"):
        each.unlink()
    ended = cube.download()
    assert (ended.code, ended.last["filesUnchanged"]) == (0, 0)
    assert files(cube.data) == SMALL


def test_files_that_the_source_lacks_stay(cube: Cube, storage: Storage) -> None:
    storage.put({"a": b"a"})
    cube.data.mkdir()
    (cube.data / "own").write_bytes(b"own")
    assert cube.download().code == 0
    assert files(cube.data) == {"a": b"a", "own": b"own"}


def test_prefix_ends_at_a_slash(cube: Cube, storage: Storage) -> None:
    storage.put({"data/a": b"a", "data2/b": b"b", "data-c": b"c"})
    assert cube.download("data").code == 0
    assert files(cube.data) == {"a": b"a"}


def test_one_object(cube: Cube, storage: Storage) -> None:
    storage.put({"models/best.bin": b"best", "models/best.bin.old": b"old"})
    assert cube.download("models/best.bin").code == 0
    assert files(cube.data) == {"best.bin": b"best"}


def test_folder_objects_are_directories(cube: Cube, storage: Storage) -> None:
    storage.put({"top/": b"", "top/empty/": b"", "top/full/": b"", "top/full/a": b"a"})
    ended = cube.download("top/")
    assert ended.code == 0, ended.output
    assert (cube.data / "empty").is_dir()
    assert files(cube.data) == {"full/a": b"a"}
    assert ended.last["filesTotal"] == 1


@pytest.mark.parametrize(("key", "code"), [("nothing", 4), ("nothing/", 4), ("", 0)])
def test_nothing_there(cube: Cube, key: str, code: int) -> None:
    ended = cube.download(key)
    assert ended.code == code, ended.output


def test_object_and_prefix_of_one_name(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """The server of the tests keeps objects as files, so it cannot hold both: the proxy adds the other one."""
    storage.put({"x": b"file"})

    def rule(request: object) -> Fault | None:
        return Fault(change=lambda body: with_keys(body, ["x/y"]))

    proxy.rule = rule
    ended = watched.download("x")
    assert (ended.code, ended.last["reason"]) == (5, "Ambiguous")
    proxy.rule = None
    assert watched.download("x", kind="file").code == 0
    assert files(watched.data) == {"x": b"file"}


UNSAFE = ["../up", "/root", "a//b", "a\\b", "bell\x07", "n" * 256, "q/./r", ".stowplan/locks/x"]


def test_unsafe_keys_are_refused_before_anything_is_written(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"good": b"good"})
    proxy.rule = listing_of(sorted([*UNSAFE, "good", "k", "k/l"]))
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys"), ended.output
    assert files(watched.data) == {}
    for each in [*UNSAFE, "k/l"]:
        assert repr(each) in ended.last["message"], each


def test_only_the_first_ten_unsafe_keys_are_shown(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"good": b"good"})
    proxy.rule = listing_of([f"{n:02}\\" for n in range(12)])
    ended = watched.download()
    assert ended.last["message"].count("backslash") == 10
    assert "and 2 more" in ended.last["message"]


def test_links_are_never_followed(cube: Cube, storage: Storage, tmp_path: Path) -> None:
    storage.put({"out/a": b"a"})
    outside = tmp_path / "outside"
    outside.mkdir()
    cube.data.mkdir()
    (cube.data / "out").symlink_to(outside)
    ended = cube.download()
    assert ended.code == 5, ended.output
    assert list(outside.iterdir()) == []


def test_path_through_a_link_is_refused(cube: Cube, storage: Storage, tmp_path: Path) -> None:
    storage.put({"a": b"a"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (cube.claim / "data").symlink_to(outside)
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "Link")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(("key", "there"), [("a/b", "a"), ("a", "a/b")])
def test_file_and_directory_in_each_others_place(cube: Cube, storage: Storage, key: str, there: str) -> None:
    storage.put({key: b"new"})
    (cube.data / there).parent.mkdir(parents=True)
    (cube.data / there).write_bytes(b"own")
    ended = cube.download()
    assert ended.code == 5, ended.output
    assert files(cube.data) == {there: b"own"}


def test_link_in_place_of_a_file_is_replaced(cube: Cube, storage: Storage, tmp_path: Path) -> None:
    storage.put({"a": b"new"})
    (tmp_path / "victim").write_bytes(b"victim")
    cube.data.mkdir()
    (cube.data / "a").symlink_to(tmp_path / "victim")
    assert cube.download().code == 0
    assert (tmp_path / "victim").read_bytes() == b"victim"
    assert not (cube.data / "a").is_symlink()
    assert (cube.data / "a").read_bytes() == b"new"


def test_run_that_is_done_does_nothing_and_the_next_one_does(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"a": b"1"})
    assert watched.download(run="cube-29000000").code == 0
    complete = json.loads((watched.state / "complete.json").read_text())
    assert complete["filesDone"] == 1
    storage.put({"a": b"22"})
    before = len(proxy.requests)
    assert watched.download(run="cube-29000000").code == 0
    assert len(proxy.requests) == before
    assert watched.download(run="cube-29000060").code == 0
    assert files(watched.data) == {"a": b"22"}
    marker = json.loads((watched.claim / ".stowplan/runs/cube-29000060.json").read_text())
    assert marker == {"format": 1, "run": "cube-29000060", "result": "succeeded", "exitCode": 0}


def test_completeness_is_taken_back_before_a_change(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"a": b"1"})
    assert watched.download(run="one").code == 0
    storage.put({"a": b"22"})
    proxy.rule = lambda request: None if request.is_listing else Fault(status=503)
    assert watched.download(run="two").code == 10
    assert not (watched.state / "complete.json").exists()
    assert files(watched.data) == {"a": b"1"}


def test_more_than_there_is_room_for(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"a": b"1"})
    size = str(1 << 60).encode()
    proxy.rule = lambda _: Fault(change=lambda body: body.replace(b"<Size>1</Size>", b"<Size>%s</Size>" % size))
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (5, "NoSpace")


def test_read_only_claim(cube: Cube, storage: Storage) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    storage.put({"a": b"1"})
    cube.claim.chmod(0o555)
    assert cube.download().code == 5
