"""Tasks during other faults: no data is lost, and no unfinished work counts as done."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.accounts import account_directory
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.redis_server import Redis
from tests.agents.cache.task_agent import Dataset, files, warmup_fields
from tests.agents.cache.test_task_kills import children
from tests.agents.cache.test_tasks import MIB, cached, fill
from tests.agents.cache.volume import FORGETS
from tests.agents.ended import Ended
from tests.agents.kills import ends, works
from tests.agents.transfer.faults import Fault, Proxy, Request, proxied
from tests.agents.waiting import GRACE_SECONDS, until

DATA = {f"d{number % 3}/{number:03}": os.urandom(20_000) for number in range(60)}


@pytest.fixture
def proxy(s3: str) -> Iterator[Proxy]:
    with proxied(s3) as running:
        yield running


@dataclass
class Gate:
    """Lets some files of a copy through, and the others once it is open."""

    free: Iterator[int] = field(default_factory=lambda: iter(range(10)))
    opened: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Request) -> Fault | None:
        if not request.is_listing and next(self.free, None) is None:
            self.opened.wait(60)
        return None


@pytest.fixture
def gate(proxy: Proxy) -> Iterator[Gate]:
    gate = Gate()
    proxy.rule = gate
    yield gate
    gate.opened.set()


@pytest.fixture
def held(dataset: Dataset, proxy: Proxy, gate: Gate) -> Dataset:
    """A dataset with data in its source, whose copy comes to its end once the gate is open."""
    dataset.put(DATA)
    return replace(dataset, endpoint=proxy.url)


def copies(proxy: Proxy) -> int:
    return sum(request.method == "GET" and "/d" in request.path for request in proxy.requests)


def finish(process: "subprocess.Popen[str]", seconds: float = 60) -> Ended:
    """Its end. A minute is enough on any machine, and less than it takes to wait for a server again and again."""
    output, _ = process.communicate(timeout=seconds)
    return Ended(process.returncode, output)


def heard(process: "subprocess.Popen[str]", awaited: Callable[[str], bool], then: Callable[[], None]) -> Ended:
    """What an agent says until its end; does something at each line that was waited for."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if awaited(line):
            then()
    return Ended(process.wait(60), "".join(lines))


def waits(said: str) -> bool:
    """Whether a task says that it found another one at work on its dataset."""
    return "waiting for its end" in said


def test_redis_restarts_in_the_midst_of_a_sync(
    held: Dataset, gate: Gate, proxy: Proxy, redis: Redis, mounts: NewMounts
) -> None:
    with held.started("sync", held.sync_fields(), "sync-abc") as process:
        until(lambda: copies(proxy) > 10)
        redis.kill()
        time.sleep(2)
        redis.start()
        gate.opened.set()
        ended = finish(process)
    assert ended.code in (0, 10), ended.output
    (node,) = mounts(1)
    assert ended.code or files(node.path) == DATA
    proxy.rule = None
    assert held.sync().code == 0
    assert files(node.path) == DATA


def test_a_metadata_engine_that_is_away(dataset: Dataset, redis: Redis) -> None:
    redis.kill()
    ended = dataset.sync()
    assert ended.code == 10, ended.output


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(cut_after=5000)])
def test_the_source_fails_and_comes_back(dataset: Dataset, proxy: Proxy, mounts: NewMounts, fault: Fault) -> None:
    dataset.put(DATA)
    through = replace(dataset, endpoint=proxy.url)
    proxy.rule = lambda request: fault if "/d1/" in request.path and request.method == "GET" else None
    ended = through.sync()
    (node,) = mounts(1)
    assert ended.code == 10, ended.output
    assert not list((node.path / ".stowplan").rglob("*abc.json"))
    assert not (node.path / ".stowplan/complete.json").exists()
    proxy.rule = None
    assert through.sync().code == 0
    assert files(node.path) == DATA


def test_sigterm_ends_a_sync_with_all_its_children(held: Dataset, proxy: Proxy, mounts: NewMounts) -> None:
    with held.started("sync", held.sync_fields(), "sync-abc") as process:
        until(lambda: copies(proxy) > 5)
        assert children(held, wait=0)
        process.terminate()
        ended = finish(process, GRACE_SECONDS)
    assert (ended.code, ended.last["reason"]) == (143, "Terminated")
    assert not children(held)
    (node,) = mounts(1)
    # It lowered its flag: the next one need not wait.
    assert not list((node.path / ".stowplan/lock").iterdir())
    proxy.rule = None
    assert held.sync().code == 0
    assert files(node.path) == DATA


def test_the_soft_deadline_of_a_sync(held: Dataset, proxy: Proxy) -> None:
    ended = held.sync(softDeadlineSeconds=2)
    assert (ended.code, ended.last["reason"]) == (12, "SoftDeadline"), ended.output
    proxy.rule = None
    assert held.sync().code == 0


def test_two_syncs_at_once(held: Dataset, gate: Gate, proxy: Proxy, mounts: NewMounts) -> None:
    """The one that comes second waits, and then has nothing left to copy."""
    with held.started("sync", held.sync_fields(), "sync-one") as one:
        until(lambda: copies(proxy) > 0)
        with held.started("sync", held.sync_fields(), "sync-two") as two:
            second = heard(two, waits, gate.opened.set)
            ended = [finish(one), second]
    assert [each.code for each in ended] == [0, 0], ended
    assert "60 files are new" in ended[0].last["message"]
    assert "0 files are new, 60 were there" in ended[1].last["message"]
    assert waits(ended[1].output)
    (node,) = mounts(1)
    assert files(node.path) == DATA


def test_the_same_run_twice_at_once(held: Dataset, gate: Gate, proxy: Proxy) -> None:
    with held.started("sync", held.sync_fields(), "sync-abc") as one:
        until(lambda: copies(proxy) > 0)
        with held.started("sync", held.sync_fields(), "sync-abc") as two:
            second = heard(two, waits, gate.opened.set)
            ended = [finish(one), second]
    assert [each.code for each in ended] == [0, 0], ended
    assert "complete before" in ended[1].last["message"]


@pytest.mark.parametrize("first", ["sync", "rmr"])
def test_a_sync_and_a_removal_at_once(first: str, held: Dataset, gate: Gate, proxy: Proxy, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    fill(node, {"d0/000": DATA["d0/000"]})
    rmr: dict[str, Any] = {"mountPath": str(node.path), "paths": ["d0"]}
    with held.started("sync", held.sync_fields(), "sync-abc") as sync:
        until(lambda: copies(proxy) > 0)
        with held.started("rmr", rmr, "rmr-abc") as removal:
            second = heard(removal, waits, gate.opened.set)
            ended = [finish(sync), second]
    assert [each.code for each in ended] == [0, 0], ended
    assert waits(ended[1].output)
    assert files(node.path) == {name: data for name, data in DATA.items() if not name.startswith("d0/")}
    if first == "rmr":
        proxy.rule = None
        assert held.sync().code == 0
        assert files(node.path) == DATA


def test_a_mount_that_dies_in_the_midst_of_a_warmup(dataset: Dataset, mounts: NewMounts) -> None:
    writer, node = mounts(2, options=("--download-limit=80",))
    fill(writer, {f"{number}": os.urandom(4 * MIB) for number in range(24)})
    with dataset.started("warmup", warmup_fields(node), "warm-abc") as process:
        until(lambda: cached(node) > 8 * MIB)
        node.kill()
        ended = finish(process)
    assert ended.code == 10, ended.output
    node.unmount()
    node.start()
    assert dataset.warmup(node).code == 0


@pytest.mark.parametrize("task", ["warmup", "rmr"])
def test_sigterm_while_the_mount_hangs(dataset: Dataset, mounts: NewMounts, task: str) -> None:
    (node,) = mounts(1)
    fill(node, {"a": b"a"})
    fields = {
        "warmup": warmup_fields(node),
        "rmr": {"mountPath": str(node.path), "paths": ["a"]},
    }[task]
    node.freeze()
    with dataset.started(task, fields, "run-abc") as process:
        until(lambda: works(process))
        assert not ends(process, 1)
        process.terminate()
        ended = finish(process, GRACE_SECONDS)
    assert ended.code == 143, ended.output
    node.thaw()
    assert files(node.path) == {"a": b"a"}


def test_sigterm_stops_a_warmup_in_the_mount_too(dataset: Dataset, mounts: NewMounts) -> None:
    writer, node = mounts(2, options=("--download-limit=80",))
    fill(writer, {f"{number}": os.urandom(4 * MIB) for number in range(24)})
    with dataset.started("warmup", warmup_fields(node, threads=2), "warm-abc") as process:
        until(lambda: cached(node) > 8 * MIB)
        process.terminate()
        assert finish(process, GRACE_SECONDS).code == 143

    def stands() -> bool:
        before = cached(node)
        time.sleep(2)
        return cached(node) == before

    until(stands)
    assert cached(node) < 24 * 4 * MIB


def test_a_cache_on_a_full_disk(dataset: Dataset, mounts: NewMounts, tmp_path: Path) -> None:
    """The client leaves no space free, so the disk refuses blocks. The warmup never says that all is cached."""
    (writer,) = mounts(1)
    fill(writer, {f"{number}": os.urandom(4 * MIB) for number in range(8)})
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], check=True)
    try:
        (node,) = mounts(1, options=(f"--cache-dir={disk}", "--free-space-ratio=0"))
        ended = dataset.warmup(node, threshold=95)
        # JuiceFS says that it drops blocks only where its queue is full, not where the disk refuses one.
        small = bool(ended.said("CacheTooSmall"))
        assert (ended.code, ended.last["reason"]) == ((0, "Succeeded") if small else (10, "BelowThreshold")), (
            ended.output
        )
        assert files(node.path) == files(writer.path)
        node.stop()
    finally:
        subprocess.run(["umount", "--lazy", disk], check=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.255.255.1"])
def test_an_api_server_that_is_away(dataset: Dataset, host: str, tmp_path: Path) -> None:
    """It refuses connections, or answers nothing at all."""
    dataset.put({"a": b"a"})
    account = account_directory(tmp_path / "account", token="token")
    cluster = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "1"}
    away = replace(dataset, environment=cluster)
    with away.started("sync", away.sync_fields(), "sync-abc", 0, f"--service-account={account}") as process:
        ended = finish(process)
    assert ended.code == 0, ended.output
    if host == "127.0.0.1":
        assert "Cannot read the status" in ended.output


def test_what_a_killed_copy_left_is_removed(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    dataset.put({"d/a": b"a"})
    leftovers = {"d/.jfs.a.tmp.123456": b"part", ".jfs.x.tmp.9": b"part", ".stowplan/.jfs.y.tmp.9": b""}
    leftovers["d/.a.jpg.tmp.7345431788030757929"] = b"part"
    mine = {"d/.jfs.a.tmp": b"mine", "d/a.tmp.1": b"mine", "d/.a.tmp.20261122": b"mine"}
    fill(node, leftovers | mine)
    (node.path / ".stowplan/begun.json").write_text('{"format": 1, "run": "sync-before"}', encoding="utf-8")
    assert dataset.sync().code == 0
    assert files(node.path) == {"d/a": b"a"} | mine
    state = [path for path in (node.path / ".stowplan").rglob("*") if path.is_file()]
    assert sorted(path.name for path in state if path.parent.name != "listings") == ["complete.json", "sync-abc.json"]


def test_markers_that_are_broken(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1, options=FORGETS)
    dataset.put({"a": b"a"})
    for name in ("runs/sync-abc.json", "complete.json", "begun.json", "lock/what.is.this", "lock/other"):
        fill(node, {f".stowplan/{name}": b"{broken"})
    assert dataset.sync().code == 0
    assert json.loads((node.path / ".stowplan/complete.json").read_text(encoding="utf-8"))["run"] == "sync-abc"


def test_progress_is_reported_while_a_sync_runs(held: Dataset, gate: Gate) -> None:
    def shows(line: str) -> bool:
        event = json.loads(line)
        total, files, size = (event.get(name, 0) for name in ("filesTotal", "filesDone", "bytesDone"))
        numbers = 40 < total <= 60 and 0 < files < 60 and 0 < size < sum(map(len, DATA.values()))
        return numbers and bool(event["message"] == "The sync is under way")

    with held.started("sync", held.sync_fields(), "sync-abc") as process:
        ended = heard(process, shows, gate.opened.set)
    assert ended.code == 0, ended.output
    assert any(map(shows, ended.output.splitlines()))
