"""Real frameworks train by their compiled variables and commands, although one pod starts ten seconds late.

Every pod is a process with a host name and name service of its own. Its name is known only once the pod has started.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.launcher import machine, name_server
from tests.launcher.jobs import job, mx_job_of
from tests.launcher.kubelet import pods, resolved
from tests.nightly.frameworks import wheels
from tests.nightly.frameworks.wheels import MXNET, PADDLE_2, PADDLE_3, Framework
from tests.repositories import Result

pytestmark = [
    pytest.mark.skipif(
        machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
    ),
    pytest.mark.skipif(not name_server.can_serve(), reason="only root may listen on the port of DNS"),
]

PROGRAMS = Path(__file__).parent / "programs"
LATE_SECONDS = 10.0
DENIAL_SECONDS = 5.0
LONGEST = 240.0
PORT = 20000 + os.getpid() % 500 * 20
"""First port of the pods. Launcher and scheduler listen on all addresses, and other tests run beside this one."""


def program(name: str, folder: Path) -> list[str]:
    """Arguments of Python: a program of this folder, and where it writes its result."""
    return [str(PROGRAMS / f"{name}.py"), str(folder)]


def collective(folder: Path) -> Result:
    launcher = ["-m", "paddle.distributed.launch", f"--log_dir={folder.parent}/log/$(PADDLE_TRAINER_ID)"]
    command = ["python", *launcher, *program("paddle_collective", folder)]
    return job(folder.parent / "repo", "", {"worker": 2}, command=command, port=PORT)


def servers(folder: Path) -> Result:
    command = ["python", *program("paddle_servers", folder)]
    return job(folder.parent / "repo", "", {"ps": 1, "worker": 2}, command=command, port=PORT)


def mxnet(folder: Path) -> Result:
    command = ["python", *program("mxnet_servers", folder)]
    sizes = {"SCHEDULER": 1, "SERVER": 1, "WORKER": 2}
    return mx_job_of(folder.parent / "repo", "dist", sizes, command=command, port=PORT)


CASES: dict[str, tuple[Framework, Callable[[Path], Result], str, str]] = {
    "paddle-2.6-collective": (PADDLE_2, collective, "worker-0", "2 workers"),
    "paddle-3.3-collective": (PADDLE_3, collective, "worker-1", "2 workers"),
    "paddle-2.6-servers": (PADDLE_2, servers, "ps-0", "2 workers, 1 servers"),
    "mxnet-1.9": (MXNET, mxnet, "scheduler-0", "2 workers"),
}
"""The framework, the job, the pod that is late, and what each worker says in the end."""


@pytest.mark.parametrize("name", CASES)
def test_trains_although_one_pod_is_late(name: str, tmp_path: Path) -> None:
    framework, compiled, late, trained = CASES[name]
    python = wheels.needed(framework)
    results = tmp_path / "results"
    results.mkdir()
    result = compiled(results)
    found = pods(result)
    names = machine.placed(resolved(result, found))
    (late_name,) = [pod.name for pod in found if pod.title == late]
    address, seconds = machine.new_address(), {late: LATE_SECONDS}
    path = f"{python}:/usr/bin:/bin"
    with (
        name_server.serving(address, names, {late_name: LATE_SECONDS}, DENIAL_SECONDS),
        machine.running(tmp_path / "run", found, names, delays=seconds, name_server=address, path=path) as group,
    ):
        codes = group.codes("worker", LONGEST)
        workers = {title: code for title, code in codes.items() if title.startswith("worker")}
        assert set(workers.values()) == {0}, group.said()
    assert [path.read_text() for path in results.iterdir()] == [trained] * len(workers)
