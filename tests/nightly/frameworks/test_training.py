"""Real frameworks train by what a Training compiles to: its variables, its commands and the dataset that it mounts.

Every pod is a process with namespaces of its own. DNS knows its name only once the pod has started.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.client import wait_for
from tests.launcher import machine, name_server, network
from tests.launcher.kubelet import Pod, objects, pods, resolved
from tests.nightly.frameworks import wheels
from tests.nightly.frameworks.test_frameworks import DENIAL_SECONDS, LATE_SECONDS, LONGEST, PROGRAMS
from tests.nightly.frameworks.trainings import CLAIM, claim, training
from tests.nightly.frameworks.wheels import JAX, PADDLE_3, TORCH, XGBOOST, Framework
from tests.repositories import Result

pytestmark = [
    pytest.mark.skipif(
        machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
    ),
    pytest.mark.skipif(not name_server.can_serve(), reason="only root may listen on the port of DNS"),
]


@dataclass(frozen=True)
class Case:
    """A Training, and of one with two nodes the pod that is killed, and what the other ends with: None for any error.

    JAX and Paddle may abort before an exception ends them.
    """

    release: Framework
    framework: str
    program: str
    launcher: tuple[str, ...] = ("python",)
    nodes: int = 2
    processes: int = 1
    elastic: tuple[int, int] | None = None
    engine: str = "core"
    restarts: int | None = None
    killed: str = "node-1"
    other_ends_with: int | None = 1

    def compile(self, folder: Path, steps: int, seconds: float) -> Result:
        words = [word.format(folder=folder) for word in self.launcher]
        command = [*words, str(PROGRAMS / f"{self.program}.py"), str(results(folder)), str(steps), str(seconds)]
        return training(
            folder,
            self.framework,
            command,
            engine=self.engine,
            nodes=self.nodes,
            processes=self.processes,
            elastic=self.elastic,
            restarts=self.restarts,
        )


PADDLE_LAUNCH = ("python", "-m", "paddle.distributed.launch", "--log_dir={folder}/log/$(STOWPLAN_NODE_RANK)")
ELASTIC = Case(TORCH, "torch", "torch_regression", ("torchrun",), elastic=(1, 2))
RESTARTS = Case(TORCH, "torch", "torch_regression", ("torchrun",), engine="jobset", restarts=1)
CASES = {
    "torchrun": Case(TORCH, "torch", "torch_regression", ("torchrun",)),
    "torchrun-jobset": Case(TORCH, "torch", "torch_regression", ("torchrun",), engine="jobset"),
    "torchrun-two-processes": Case(TORCH, "torch", "torch_regression", ("torchrun",), processes=2),
    "torchrun-elastic": ELASTIC,
    "torch-without-launcher": Case(TORCH, "torch", "torch_regression"),
    # The others of another killed process end after 95 seconds, when the coordinator misses its heartbeats.
    "jax": Case(JAX, "jax", "jax_regression", killed="node-0", other_ends_with=None),
    "xgboost": Case(XGBOOST, "xgboost", "xgboost_trees"),
    "paddle": Case(PADDLE_3, "paddle", "paddle_regression", PADDLE_LAUNCH, other_ends_with=None),
}
KILLED = ("torchrun", "torch-without-launcher", "jax", "xgboost", "paddle")
ONE_NODE = {
    "torchrun": Case(TORCH, "torch", "torch_regression", ("torchrun",), nodes=1, processes=2),
    "paddle": Case(PADDLE_3, "paddle", "paddle_regression", PADDLE_LAUNCH, nodes=1, processes=2),
}


def results(folder: Path) -> Path:
    return folder / "results"


@contextmanager
def running(
    folder: Path,
    case: Case,
    result: Result,
    found: Sequence[Pod],
    *,
    late: str | None = None,
    late_name: str | None = None,
) -> Iterator[machine.Group]:
    """The pods, and a name server. The name of a pod that is late is late too."""
    path = f"{wheels.needed(case.release)}:/usr/bin:/bin"
    results(folder).mkdir()
    placed = machine.placed(resolved(result, found))
    names = placed | {machine.full_name(pod): placed[pod.name] for pod in found}
    unknown = [pod for pod in found if pod.title in (late, late_name)]
    known = {name: LATE_SECONDS for pod in unknown for name in (pod.name, machine.full_name(pod))}
    delays = {late: LATE_SECONDS} if late else {}
    address, claims = machine.new_address(), {CLAIM: claim(folder)}
    with (
        network.separate() as own,
        name_server.serving(address, names, known, DENIAL_SECONDS, own),
        machine.running(
            folder / "run", found, names, delays=delays, name_server=address, path=path, claims=claims, network=own
        ) as group,
    ):
        yield group


@pytest.mark.parametrize("name", CASES)
def test_two_nodes_train_on_a_dataset_although_the_first_pod_is_late(name: str, tmp_path: Path) -> None:
    """Ranks follow nodes, unless nodes come and go."""
    case = CASES[name]
    result = case.compile(tmp_path, steps=40, seconds=0)
    found = pods(result)
    with running(tmp_path, case, result, found, late="node-0") as group:
        assert group.codes(longest=LONGEST) == {pod.title: 0 for pod in found}, group.said()
    assert_trained(tmp_path, case)


@pytest.mark.parametrize("name", ONE_NODE)
def test_processes_of_one_node_train_although_its_name_is_late(name: str, tmp_path: Path) -> None:
    case = ONE_NODE[name]
    result = case.compile(tmp_path, steps=40, seconds=0)
    with running(tmp_path, case, result, pods(result), late_name="node-0") as group:
        assert group.codes(longest=LONGEST) == {"node-0": 0}, group.said()
    assert_trained(tmp_path, case)


@pytest.mark.parametrize("name", KILLED)
def test_the_other_node_ends_with_an_error_when_one_is_killed(name: str, tmp_path: Path) -> None:
    """So no job hangs that lost a node, also where nothing but its own processes ends it."""
    case = CASES[name]
    result = case.compile(tmp_path, steps=1000, seconds=0.1)
    found = pods(result)
    (other,) = [pod.title for pod in found if pod.title != case.killed]
    with running(tmp_path, case, result, found) as group:
        wait_for_steps(tmp_path, group)
        group.kill(case.killed)
        code = group.code(other, LONGEST)
    assert code == case.other_ends_with if case.other_ends_with else code, group.said()


def test_torchrun_takes_in_the_pod_that_replaces_a_killed_one(tmp_path: Path) -> None:
    """The new pod has the name, the index and the variables of the old one."""
    result = ELASTIC.compile(tmp_path, steps=200, seconds=0.1)
    found = pods(result)
    with running(tmp_path, ELASTIC, result, found) as group:
        wait_for_steps(tmp_path, group)
        group.kill("node-1")
        time.sleep(1)
        group.start("node-1")
        assert group.codes(longest=LONGEST) == {"node-0": 0, "node-1": 0}, group.said()
    assert {path.read_text() for path in results(tmp_path).glob("[0-9]*")} == {"0 of 2", "1 of 2"}


def test_torchrun_trains_in_the_attempt_after_one_that_lost_a_node(tmp_path: Path) -> None:
    """Of the first attempt all pods end, with codes that restart the job. Those of the next have the same names."""
    result = RESTARTS.compile(tmp_path, steps=150, seconds=0.1)
    first, second = pods(result), pods(result, attempt=1)
    assert [{pod.env["STOWPLAN_ATTEMPT"] for pod in found} for found in (first, second)] == [{"0"}, {"1"}]
    with running(tmp_path, RESTARTS, result, first) as group:
        wait_for_steps(tmp_path, group)
        group.kill("node-1")
        code = group.code("node-0", LONGEST)
    assert code == 1, group.said()
    assert code not in _final(result)
    (tmp_path / "again").mkdir()
    with running(tmp_path / "again", RESTARTS, result, second) as group:
        assert group.codes(longest=LONGEST) == {pod.title: 0 for pod in second}, group.said()
    assert_trained(tmp_path, RESTARTS)


def _final(result: Result) -> list[int]:
    """The exit codes that end the job."""
    (job_set,) = objects(result, "JobSet")
    rules = job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["podFailurePolicy"]["rules"]
    (values,) = (rule["onExitCodes"]["values"] for rule in rules if "onExitCodes" in rule)
    return list(values)


def assert_trained(folder: Path, case: Case) -> None:
    """Each process wrote its rank and that of its node."""
    size = case.nodes * case.processes
    ended = {path.name: path.read_text() for path in results(folder).glob("[0-9]*")}
    assert sorted(ended.values()) == [f"{rank} of {size}" for rank in range(size)]
    if not case.elastic:
        assert set(ended) == {f"{rank}-{rank // case.processes}" for rank in range(size)}


def wait_for_steps(folder: Path, group: machine.Group) -> None:
    """Waits until both nodes have trained for a step, together."""
    wait_for(lambda: len(list(results(folder).glob("began-*"))) == 2 or any(group.ended()), LONGEST, what="a step")
    assert not any(group.ended()), group.said()
