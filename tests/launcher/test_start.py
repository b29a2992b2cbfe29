"""Pods that do not start together: names that appear late, and a pod that starts late."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.cluster.client import wait_for
from tests.launcher import machine, name_server
from tests.launcher.jobs import job, mx_job_of, training_job
from tests.launcher.kubelet import Pod, pods, resolved
from tests.launcher.test_launcher import GROUPS
from tests.repositories import Result

pytestmark = [
    pytest.mark.skipif(
        machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
    ),
    pytest.mark.skipif(not name_server.can_serve(), reason="only root may listen on the port of DNS"),
]

CACHED = 5.0
"""Seconds for which CoreDNS lets others remember a denial."""


@contextmanager
def running(
    folder: Path,
    result: Result,
    found: Sequence[Pod],
    known: Mapping[str, float] | float,
    *,
    delays: Mapping[str, float] | None = None,
    denial: float = 0,
) -> Iterator[tuple[machine.Group, name_server.NameServer]]:
    """Pods that ask a name server. `known` are the seconds after which names appear, by pod or for all."""
    names = machine.placed(resolved(result, found))
    titles = {pod.name: pod.title for pod in found}
    late = {name: known if isinstance(known, float) else known.get(titles[name], 0.0) for name in names}
    with (
        name_server.serving(machine.new_address(), names, late, denial) as server,
        machine.running(folder / "run", found, names, delays=delays, name_server=server.address) as group,
    ):
        yield group, server


def assert_trained(group: machine.Group, found: Sequence[Pod]) -> None:
    assert group.codes() == {pod.title: 0 for pod in found}, group.said()


@pytest.mark.parametrize(
    ("name", "engine"),
    [("collective", "core"), ("collective-2.3", "jobset"), ("ps-gloo-all", "core"), ("heter", "jobset")],
)
def test_names_appear_after_all_pods_have_started(name: str, engine: str, tmp_path: Path) -> None:
    mode, spec = GROUPS[name]
    result = job(tmp_path / "repo", mode, spec, engine=engine)
    found = pods(result)
    with running(tmp_path, result, found, 2.0) as (group, _):
        assert_trained(group, found)


@dataclass(frozen=True)
class Late:
    """A group with one pod that starts late, and what the name server remembers."""

    group: str
    pod: str
    seconds: float
    denial: float = 0


LATE = [
    Late("collective", "worker-0", 4, CACHED),
    Late("collective-2.3", "worker-2", 4),
    Late("heter", "ps-0", 4, CACHED),
]


@pytest.mark.parametrize("late", LATE, ids=lambda late: f"{late.group}-{late.pod}")
def test_one_pod_starts_late(late: Late, tmp_path: Path) -> None:
    assert_waited_for(tmp_path, late)


def assert_waited_for(tmp_path: Path, late: Late) -> None:
    """All pods succeed although one is late."""
    mode, spec = GROUPS[late.group]
    result = job(tmp_path / "repo", mode, spec)
    found = pods(result)
    seconds = {late.pod: late.seconds}
    with running(tmp_path, result, found, seconds, delays=seconds, denial=late.denial) as (group, _):
        assert_trained(group, found)


@pytest.mark.parametrize(
    ("name", "pod"), [("collective", "worker-2"), ("collective-2.3", "worker-0"), ("heter", "ps-0")]
)
def test_without_the_wait_a_late_pod_ends_the_job(name: str, pod: str, tmp_path: Path) -> None:
    """So the tests above show what the wait is for: as Paddle's, these programs end if a name has no address."""
    mode, spec = GROUPS[name]
    result = job(tmp_path / "repo", mode, spec)
    found = [replace(each, init=()) for each in pods(result)]
    with running(tmp_path, result, found, {pod: 15.0}, delays={pod: 15.0}) as (group, _):
        assert any(group.codes().values())
        assert "gaierror" in group.said()


def test_workers_start_after_their_servers_listen(tmp_path: Path) -> None:
    """Also if the server's name is known long before, as with a server that loads for long."""
    result = job(tmp_path / "repo", "fleet", {"ps": 1, "worker": 2})
    found = pods(result)
    with running(tmp_path, result, found, 0.0, delays={"ps-0": 4}) as (group, _):
        assert_trained(group, found)
    assert '"PeersReady"' in group.said("worker-0")


def test_trainers_with_nccl_wait_for_each_other(tmp_path: Path) -> None:
    result = training_job(tmp_path / "repo", {"trainer": "collective"}, {"trainer": 3, "is_nccl": True})
    found = pods(result)
    with running(tmp_path, result, found, {"trainer-1": 4.0}, delays={"trainer-1": 4.0}, denial=CACHED) as (group, _):
        assert_trained(group, found)


@pytest.mark.parametrize("late", ["scheduler-0", "server-1"])
def test_mxnet_waits_by_itself(late: str, tmp_path: Path) -> None:
    result = mx_job_of(tmp_path / "repo", "dist", {"SCHEDULER": 1, "SERVER": 2, "WORKER": 2})
    found = pods(result)
    assert not any(pod.init for pod in found)
    with running(tmp_path, result, found, {late: 4.0}, delays={late: 4.0}, denial=CACHED) as (group, _):
        assert_trained(group, found)


def test_a_job_whose_pod_never_comes_ends_and_says_who_is_missing(tmp_path: Path) -> None:
    """A pod asks for one missing name a second, for addresses of both families. Paddle asks up to 200 times."""
    result = job(tmp_path / "repo", "launch", {"worker": 2}, peers_timeout=3)
    first, second = pods(result)
    with running(tmp_path, result, [first], {}) as (group, server):
        assert group.code("worker-0") == 10
        assert f"without the address of {second.name}" in group.said("worker-0")
    assert 0 < server.denials <= 2 * 5


WAITS = [sys.executable, "-m", "stowplan.agents.wait_peers", "nobody-[0-0].stowplan.invalid"]


@pytest.mark.parametrize(("command", "code"), [(WAITS, 143), (["sleep", "60"], None)], ids=["wait-peers", "sleep"])
def test_a_signal_to_the_first_process_of_a_container(command: list[str], code: int | None, tmp_path: Path) -> None:
    """The kernel keeps the signal from a first process that does not handle it, such as a server of Paddle 2.5."""
    log = tmp_path / "log"
    with log.open("wb") as output:
        outer = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", *command], stderr=output)
    try:
        (pid, *_) = wait_for(lambda: children(outer.pid), 30, what="a process")
        if code:
            wait_for(lambda: "Waiting for peers" in log.read_text(), 30, what="its first line")
        os.kill(int(pid), signal.SIGTERM)
        if code:
            assert outer.wait(30) == code
        else:
            time.sleep(1)
            assert outer.poll() is None
    finally:
        outer.kill()
        outer.wait()


def children(pid: int) -> list[str]:
    """Process ids."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
