"""Transfers that are killed at any moment, again and again, and then left to finish."""

import os
import random
import time

import pytest

from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large

ROUNDS = int(os.environ.get("STOWPLAN_KILLS", "10"))
"""SIGKILLs for each flow; more of them take minutes."""

SMALL = {f"small/{number:04}": b"%04d" % number * 2000 for number in range(60)}


def slow(proxy: Proxy) -> None:
    """Makes the transfer long enough to be hit in the middle."""
    proxy.rule = lambda request: None if request.is_listing else Fault(seconds=0.02)


def kill_again_and_again(cube: Cube, source: dict[str, object], sink: dict[str, object], rounds: int) -> int:
    """SIGKILL after a random time from the first request on; gives how often the agent was still at work."""
    hit = 0
    chance = random.Random(7)  # noqa: S311 - moments of a test
    for _ in range(rounds):
        with cube.started(source, sink, "run") as process:
            time.sleep(0.25 + chance.random() * 1.2)
            hit += process.poll() is None
            process.kill()
            process.communicate()
    return hit


def test_download_survives_kills(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    objects = {**SMALL, "large": large(), "larger": large(21_000_000, 2)}
    storage.put(objects)
    slow(proxy)
    remote, local = watched.remote(), watched.local()
    assert kill_again_and_again(watched, remote, local, ROUNDS) > 0
    seen = files(watched.data) if watched.data.exists() else {}
    assert {key: objects[key] for key in seen} == seen, "a file was visible that was not complete"
    proxy.rule = None
    ended = watched.download(run="run")
    assert ended.code == 0, ended.output
    assert files(watched.data) == objects
    assert list((watched.state / "parts").iterdir()) == []


def test_upload_survives_kills(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    objects = {**SMALL, "large": large(), "larger": large(21_000_000, 2)}
    for key, data in objects.items():
        path = watched.data / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    slow(proxy)
    source, sink = watched.local(), watched.remote("to/")
    assert kill_again_and_again(watched, source, sink, ROUNDS) > 0
    seen = storage.read()
    assert {key: objects[key.removeprefix("to/")] for key in seen} == seen, (
        "an object was visible that was not complete"
    )
    proxy.rule = None
    ended = watched.upload("to/", run="run")
    assert ended.code == 0, ended.output
    assert storage.read() == {f"to/{key}": data for key, data in objects.items()}
    assert files(watched.data) == objects


def test_parts_that_are_there_are_not_fetched_again(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    data = large(40_000_000)
    storage.put({"large": data})
    blocked = 0

    def first_half(request: object) -> Fault | None:
        nonlocal blocked
        if getattr(request, "range", None) is None:
            return None
        blocked += 1
        return Fault(seconds=60) if blocked > 4 else None

    proxy.rule = first_half
    with watched.started(watched.remote(), watched.local(), "run") as process:
        deadline = time.monotonic() + 30
        while _parts(watched) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
    before, proxy.rule = len(proxy.requests), None
    assert watched.download(run="run").code == 0
    assert files(watched.data) == {"large": data}
    assert sum(each.range is not None for each in proxy.requests[before:]) == 8 - 4


def test_parts_of_an_object_that_changed_meanwhile_are_removed(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"large": large()})
    proxy.rule = lambda request: Fault(seconds=60) if (request.range or "").startswith("bytes=10") else None
    with watched.started(watched.remote(), watched.local()) as process:
        deadline = time.monotonic() + 30
        while _parts(watched) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
    new = large(seed=8)
    storage.put({"large": new})
    proxy.rule = None
    assert watched.download().code == 0
    assert files(watched.data) == {"large": new}
    assert list((watched.state / "parts").iterdir()) == []


def _parts(cube: Cube) -> int:
    journals = list((cube.state / "parts").glob("*.parts")) if cube.state.exists() else []
    return sum(each.read_text().count("w ") for each in journals)


def test_parts_of_an_upload_that_the_server_has_are_not_sent_again(
    storage: Storage, watched: Cube, proxy: Proxy
) -> None:
    watched.data.mkdir()
    data = large(40_000_000)
    (watched.data / "large").write_bytes(data)
    sent = 0

    def first_half(request: object) -> Fault | None:
        nonlocal sent
        if "partNumber" not in getattr(request, "path", ""):
            return None
        sent += 1
        return Fault(seconds=60) if sent > 4 else None

    proxy.rule = first_half
    with watched.started(watched.local(), watched.remote(), "run") as process:
        deadline = time.monotonic() + 30
        while sent < 8:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
    before, proxy.rule = len(proxy.requests), None
    assert watched.upload(run="run").code == 0
    assert storage.read() == {"large": data}
    assert sum("partNumber" in each.path for each in proxy.requests[before:]) == 8 - 4
    with storage.wire() as wire:
        assert b"<UploadId>" not in wire.call("GET", query=[("uploads", "")]).content


@pytest.mark.parametrize("flow", ["download", "upload"])
def test_sigterm_ends_at_once_and_keeps_what_is_there(storage: Storage, watched: Cube, proxy: Proxy, flow: str) -> None:
    watched.data.mkdir()
    if flow == "download":
        storage.put({f"{number:03}": b"x" for number in range(100)})
    else:
        for number in range(100):
            (watched.data / f"{number:03}").write_bytes(b"x")
    count = 0

    def hang(request: object) -> Fault | None:
        nonlocal count
        count += "/0" in getattr(request, "path", "")
        return Fault(seconds=60) if count > 40 else None

    proxy.rule = hang
    sides = (watched.remote(), watched.local())
    with watched.started(*(sides if flow == "download" else sides[::-1]), "run") as process:
        deadline = time.monotonic() + 30
        while count < 44:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        begin = time.monotonic()
        process.terminate()
        output, _ = process.communicate(timeout=15)
        assert time.monotonic() - begin < 10
    assert process.returncode == 143, output
    before, proxy.rule = len(proxy.requests), None
    ended = watched.download(run="run") if flow == "download" else watched.upload(run="run")
    assert ended.code == 0, ended.output
    method = "GET" if flow == "download" else "PUT"
    again = [each for each in proxy.requests[before:] if each.method == method and "/0" in each.path]
    assert len(again) <= 100 - 36
