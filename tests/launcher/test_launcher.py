"""Training groups form: real processes, one for each compiled pod, connect by their compiled variables alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.launcher import machine, store
from tests.launcher.jobs import ETCD, PATIENCE, job
from tests.launcher.kubelet import objects, pods, resolved
from tests.launcher.wire import split
from tests.repositories import Result

pytestmark = pytest.mark.skipif(
    machine.namespace_command() is None, reason="no mount namespaces here: neither root nor user namespaces"
)

Env = Mapping[str, str]
Change = Callable[[Env, Env], Env]

NOBODY = "nobody listens at"
ENGINES = ["core", "jobset"]
GROUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("launch", {"worker": 1}),
    "single-2.3": ("launch-2.3", {"worker": 1}),
    "collective": ("launch", {"worker": 3}),
    "collective-2.3": ("launch-2.3", {"worker": 3}),
    "collective-alone": ("alone", {"worker": 3}),
    "service": ("launch", {"worker": 3, "intranet": "Service"}),
    "host": ("launch", {"worker": 2, "intranet": "Host"}),
    "host-2.3": ("launch-2.3", {"worker": 2, "intranet": "Host"}),
    "ps-gloo-workers": ("fleet", {"ps": 2, "worker": 2, "withGloo": 1}),
    "ps-gloo-all": ("fleet", {"ps": 2, "worker": 2, "withGloo": 2}),
    "ps-host": ("fleet", {"ps": 2, "worker": 2, "intranet": "Host", "withGloo": 1}),
    "heter": ("fleet", {"ps": 1, "worker": 3, "heter": 2, "withGloo": 1}),
    "heter-host": ("fleet", {"ps": 1, "worker": 2, "heter": 1, "intranet": "Host"}),
}


HERE = (
    ("single", "core"),
    ("single-2.3", "jobset"),
    ("collective", "jobset"),
    ("collective-2.3", "core"),
    ("collective-alone", "jobset"),
    ("service", "core"),
    ("host", "core"),
    ("host-2.3", "jobset"),
    ("ps-gloo-workers", "core"),
    ("ps-gloo-all", "jobset"),
    ("ps-host", "core"),
    ("heter", "jobset"),
    ("heter-host", "core"),
)
"""Each group on one engine. `tests/nightly/launcher` has the others."""


@pytest.mark.parametrize(("name", "engine"), HERE)
def test_forms_a_group(name: str, engine: str, tmp_path: Path) -> None:
    mode, spec = GROUPS[name]
    assert_formed(tmp_path, job(tmp_path / "repo", mode, spec, engine=engine))


def assert_formed(folder: Path, result: Result) -> None:
    """All pods succeed."""
    found = pods(result)
    with machine.running(folder / "run", found, machine.placed(resolved(result, found))) as group:
        assert group.codes() == {pod.title: 0 for pod in found}, group.said()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_name_is_resolved_once(engine: str, tmp_path: Path) -> None:
    result = job(tmp_path, "fleet", {"ps": 1, "worker": 2, "heter": 1}, engine=engine)
    found = pods(result)
    assert [pod.name for pod in resolved(result, found)] == [pod.name for pod in found]
    assert len({pod.name for pod in found}) == len(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_roles_share_nodes_but_no_ports_on_the_host_network(engine: str, tmp_path: Path) -> None:
    spec = {"ps": 2, "worker": 2, "heter": 2, "intranet": "Host"}
    result = job(tmp_path, "fleet", spec, engine=engine)
    node = [pod for pod in pods(result) if pod.index == 0]
    taken = [port for pod in node for port in pod.host_ports]
    assert len(taken) == len(set(taken)) == 3
    blocks = [range(port, port + int(pod.env["TRAINER_PORTS_NUM"])) for pod in node for port in pod.host_ports]
    assert len({port for block in blocks for port in block}) == sum(len(block) for block in blocks)


def other_pod(own: Env, peer: Env) -> Env:
    """The name of a peer instead of the own one."""
    return {"POD_IP": peer["POD_IP"]}


def port_off_by_one(own: Env, peer: Env) -> Env:
    return {"PADDLE_PORT": str(int(own["PADDLE_PORT"]) + 1)}


def gloo_off_by_one(own: Env, peer: Env) -> Env:
    host, port = split(own["PADDLE_GLOO_HTTP_ENDPOINT"])
    return {"PADDLE_GLOO_HTTP_ENDPOINT": f"{host}:{port + 1}"}


def foreign_list(own: Env, peer: Env) -> Env:
    """The list of trainers as another run has it."""
    return {"PADDLE_TRAINERS": own["PADDLE_TRAINERS"].replace("resnet", "resnet50")}


@dataclass(frozen=True)
class Wrong:
    """One pod with another variable than was compiled, and what it says then."""

    mode: str
    spec: dict[str, Any]
    pod: str
    change: Change
    reason: str


PAIR: dict[str, Any] = {"worker": 2}
PS: dict[str, Any] = {"ps": 1, "worker": 2, "withGloo": 1}
WRONG = [
    Wrong("launch", PAIR, "worker-1", other_pod, "is rank 0, not 1"),
    Wrong("launch", PAIR, "worker-1", foreign_list, "is not in PADDLE_TRAINERS"),
    Wrong("launch", PAIR, "worker-1", port_off_by_one, NOBODY),
    Wrong("launch-2.3", PAIR, "worker-1", other_pod, "is the master, but rank 1"),
    Wrong("fleet", PS, "ps-0", other_pod, "is none of"),
    Wrong("fleet", PS, "ps-0", port_off_by_one, "is none of"),
    Wrong("fleet", PS, "worker-1", other_pod, "trainer 1 is"),
    Wrong("fleet", PS, "worker-1", gloo_off_by_one, NOBODY),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.mode}-{wrong.pod}-{wrong.change.__name__}")
def test_no_group_with_a_wrong_variable(wrong: Wrong, tmp_path: Path) -> None:
    patience = 1.0 if wrong.reason == NOBODY else PATIENCE
    result = job(tmp_path / "repo", wrong.mode, wrong.spec, patience=patience)
    found = {each.title: each for each in pods(result)}
    names = machine.placed(resolved(result, found.values()))
    changed = {wrong.pod: wrong.change(found[wrong.pod].env, found["worker-0"].env)}
    with machine.running(tmp_path / "run", found.values(), names, changed) as group:
        assert group.code(wrong.pod) == 1
        assert wrong.reason in group.said(wrong.pod)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_group_without_a_service(engine: str, tmp_path: Path) -> None:
    result = job(tmp_path / "repo", "launch", {"worker": 2}, engine=engine, peers_timeout=1)
    with machine.running(tmp_path / "run", pods(result), {}) as group:
        assert 10 in group.codes().values()
        assert "without the address of" in group.said()


LAUNCHERS = {"legacy": ("elastic", "PADDLE_ELASTIC_NP"), "modern": ("elastic-2.3", "PADDLE_NNODES")}


@pytest.mark.parametrize(("launcher", "engine"), [("legacy", "core"), ("modern", "jobset")])
def test_elastic_workers_meet_at_the_etcd(launcher: str, engine: str, tmp_path: Path) -> None:
    mode, _ = LAUNCHERS[launcher]
    spec = {"elastic": 1, "worker": 3}
    meet_at_etcd(tmp_path, job(tmp_path / "repo", mode, spec, engine=engine, launcher=launcher))


@pytest.mark.parametrize(("launcher", "other"), [("legacy", "modern"), ("modern", "legacy")])
def test_a_launcher_does_not_take_the_variables_of_the_other(launcher: str, other: str, tmp_path: Path) -> None:
    mode, _ = LAUNCHERS[launcher]
    result = job(tmp_path / "repo", mode, {"elastic": 1, "worker": 1}, launcher=other)
    with machine.running(tmp_path / "run", pods(result), {}) as group:
        assert group.codes() == {"worker-0": 1}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_elastic_workers_meet_again_with_another_size(launcher: str, tmp_path: Path) -> None:
    """Neither Job nor pods change but for how many there are; the containers read the new size when they start."""
    mode, variable = LAUNCHERS[launcher]
    seen = []
    for size in (3, 4, 2):
        folder = tmp_path / str(size)
        spec = {"elastic": 1, "worker": size, "schedulingPolicy": {"minAvailable": 2}}
        result = job(folder / "repo", mode, spec, launcher=launcher)
        meet_at_etcd(folder, result)
        assert {pod.env[variable] for pod in pods(result)} == {"2" if size == 2 else f"2:{size}"}
        (body,) = objects(result, "Job")
        seen.append((body["metadata"]["name"], body["spec"]["template"]))
    assert seen[0] == seen[1] == seen[2]


def meet_at_etcd(folder: Path, result: Result) -> None:
    """All pods of an elastic job succeed, whose etcd is in this process."""
    found = pods(result)
    host, port = split(ETCD)
    with store.serving((machine.new_address(), port)) as etcd:
        names = {**machine.placed(resolved(result, found)), host: str(etcd.server_address[0])}
        with machine.running(folder / "run", found, names) as group:
            assert group.codes() == {pod.title: 0 for pod in found}, group.said()
        assert etcd.values == {}
