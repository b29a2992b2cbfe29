"""Transfers that are killed repeatedly at any moment, and then finish."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from tests.agents.kills import Kills
from tests.agents.transfer.agent import Cube, Transfer, files
from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large
from tests.agents.waiting import GRACE_SECONDS, until
from tests.tier import KILLS

Sides = tuple[dict[str, Any], dict[str, Any]]


@dataclass
class Source:
    """Files that change between two attempts, so that each attempt has work, and everything that they ever were."""

    write: Callable[[dict[str, bytes]], None]
    small: int
    """How many small files there are; a quarter of them changes each time."""
    large: dict[str, int]
    """Sizes of the large files; one of them changes every few times."""
    now: dict[str, bytes] = field(default_factory=dict)
    ever: dict[str, set[bytes]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311 - content of a test

    def change(self) -> None:
        chosen = self.chance.sample(range(self.small), self.small // 4 if self.now else self.small)
        changed = {f"small/{number:04}": self.chance.randbytes(self.chance.randrange(9000)) for number in chosen}
        for name, size in self.large.items():
            if not self.now or self.chance.random() < 0.3:
                changed[name] = self.chance.randbytes(size)
        self.write(changed)
        self.now |= changed
        for name, data in changed.items():
            self.ever.setdefault(name, set()).add(data)

    def has_had(self, seen: dict[str, bytes]) -> bool:
        """Whether all of these files once were as they are here."""
        return all(data in self.ever[name] for name, data in seen.items())


def kill_again_and_again(cube: Transfer, proxy: Proxy, sides: Sides, source: Source) -> None:
    """SIGKILL at a random time after the first request."""
    proxy.rule = lambda request: None if request.is_listing else Fault(seconds=0.03)
    kills = Kills(KILLS)
    for number in kills:
        source.change()
        before = len(proxy.requests)
        with cube.started(*sides, f"run-{number}") as process:
            kills.strike(process, partial(_more_than, proxy, before))
    proxy.rule = None


def _more_than(proxy: Proxy, before: int) -> bool:
    return len(proxy.requests) > before


@pytest.mark.parametrize(
    ("small", "large_files"),
    [(120, {}), (4, {"large": 12_000_000, "larger": 21_000_000})],
    ids=["many small files", "large files"],
)
def test_download_survives_kills(
    storage: Storage, watched: Cube, proxy: Proxy, small: int, large_files: dict[str, int]
) -> None:
    source = Source(storage.put, small, large_files)
    kill_again_and_again(watched, proxy, (watched.remote(), watched.local()), source)
    assert source.has_had(files(watched.data)), "a file is there that is not complete"
    ended = watched.download(run="last")
    assert ended.code == 0, ended.output
    assert files(watched.data) == source.now
    assert list((watched.state / "parts").iterdir()) == []


def test_upload_survives_kills(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    def write(changed: dict[str, bytes]) -> None:
        for name, data in changed.items():
            (watched.data / name).parent.mkdir(parents=True, exist_ok=True)
            (watched.data / name).write_bytes(data)

    source = Source(write, 60, {"large": 12_000_000, "larger": 21_000_000})
    kill_again_and_again(watched, proxy, (watched.local(), watched.remote()), source)
    assert source.has_had(storage.read()), "an object is there that is not complete"
    ended = watched.upload(run="last")
    assert ended.code == 0, ended.output
    assert storage.read() == source.now
    assert files(watched.data) == source.now


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
        until(lambda: _parts(watched) >= 4)
        process.kill()
    before, proxy.rule = len(proxy.requests), None
    assert watched.download(run="run").code == 0
    assert files(watched.data) == {"large": data}
    assert sum(each.range is not None for each in proxy.requests[before:]) == 8 - 4


def test_parts_of_an_object_that_changed_meanwhile_are_removed(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"large": large()})
    proxy.rule = lambda request: Fault(seconds=60) if (request.range or "").startswith("bytes=10") else None
    with watched.started(watched.remote(), watched.local()) as process:
        until(lambda: _parts(watched) >= 2)
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
        until(lambda: sent >= 8)
        process.kill()
    before, proxy.rule = len(proxy.requests), None
    assert watched.upload(run="run").code == 0
    assert storage.read() == {"large": data}
    assert sum("partNumber" in each.path for each in proxy.requests[before:]) == 8 - 4
    with storage.client() as client:
        assert b"<UploadId>" not in client.call("GET", query=[("uploads", "")]).content


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
        # Nothing is called between reading the number and writing it: another thread might count meanwhile.
        if "/0" in getattr(request, "path", ""):
            count += 1
        return Fault(seconds=60) if count > 40 else None

    proxy.rule = hang
    sides = (watched.remote(), watched.local())
    with watched.started(*(sides if flow == "download" else sides[::-1]), "run") as process:
        until(lambda: count >= 44)
        process.terminate()
        output, _ = process.communicate(timeout=GRACE_SECONDS)
    assert process.returncode == 143, output
    before, proxy.rule = len(proxy.requests), None
    ended = watched.download(run="run") if flow == "download" else watched.upload(run="run")
    assert ended.code == 0, ended.output
    method = "GET" if flow == "download" else "PUT"
    again = [each for each in proxy.requests[before:] if each.method == method and "/0" in each.path]
    assert len(again) <= 100 - 36
