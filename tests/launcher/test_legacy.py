"""TrainingJobs form: parameter servers, a master with its etcd, or trainers alone, by their compiled variables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.launcher import machine, store
from tests.launcher.jobs import ETCD, PATIENCE, training_job
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
PS = {"pserver": "pserver", "trainer": "trainer"}
NEW = {"pserver": "new-pserver", "trainer": "new-trainer"}
TOLERANT: dict[str, Any] = {"fault_tolerant": True, "pserver": 2, "trainer": 2}
GROUPS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "ps": (PS, {"pserver": 2, "trainer": 3}),
    "ps-ports": (PS, {"pserver": 2, "trainer": 2, "port": 9000, "ports_num": 2, "ports_num_for_sparse": 3}),
    "ps-host": (PS, {"pserver": 2, "trainer": 2, "host_network": True}),
    "multi": (PS, {"pserver": 1, "trainer": 2, "frame_work": {"name": "paddle", "type": "multi"}}),
    "tolerant": (NEW, TOLERANT),
    "tolerant-host": (NEW, {**TOLERANT, "host_network": True}),
    "nccl": ({"trainer": "collective"}, {"trainer": 3, "is_nccl": True}),
    "nccl-host": ({"trainer": "collective"}, {"trainer": 2, "is_nccl": True, "host_network": True}),
    "nccl2": (
        {"trainer": "collective 30236"},
        {
            "trainer": 3,
            "frame_work": {"name": "paddle", "type": "nccl2"},
            "trainer_port": 30236,
            "trainer_ports_num": 1,
        },
    ),
    "local": ({"trainer": "local"}, {"trainer": 1, "local_job": True}),
}


HERE = (
    ("ps", "core"),
    ("ps-ports", "jobset"),
    ("ps-host", "jobset"),
    ("multi", "core"),
    ("tolerant", "jobset"),
    ("tolerant-host", "core"),
    ("nccl", "core"),
    ("nccl-host", "jobset"),
    ("nccl2", "jobset"),
    ("local", "core"),
)
"""Each group on one engine. `tests/nightly/launcher` has the others."""


@pytest.mark.parametrize(("name", "engine"), HERE)
def test_forms_a_group(name: str, engine: str, tmp_path: Path) -> None:
    programs, spec = GROUPS[name]
    assert_trained(tmp_path, training_job(tmp_path / "repo", programs, spec, engine=engine))


def test_a_master_goes_to_the_etcd_of_the_user(tmp_path: Path) -> None:
    spec = {**TOLERANT, "master": {"etcd-endpoint": f"http://{ETCD}"}}
    result = training_job(tmp_path / "repo", NEW, spec)
    host, port = split(ETCD)
    with store.serving((machine.new_address(), port)) as etcd:
        assert_trained(tmp_path, result, also={host: str(etcd.server_address[0])})
        assert "/master" in etcd.values


ELASTIC: list[tuple[str, list[str], dict[str, str], dict[str, Any]]] = [
    ("jobset", ["Job", "JobSet"], NEW, {**TOLERANT, "trainer": (2, 6)}),
    ("core", ["Job", "Job"], {"trainer": "new-trainer"}, {"fault_tolerant": True, "is_nccl": True, "trainer": (2, 6)}),
]


@pytest.mark.parametrize(("engine", "kinds", "programs", "spec"), ELASTIC, ids=ENGINES[::-1])
def test_elastic_trainers_of_every_number_meet_in_the_same_pods(
    engine: str, kinds: list[str], programs: dict[str, str], spec: dict[str, Any], tmp_path: Path
) -> None:
    """Kueue admits fewer trainers than are wished for. With a JobSet they are a Job beside the one of the helpers."""
    result = training_job(tmp_path / "repo", programs, spec, engine=engine, gang="kueue")
    assert sorted(body["kind"] for body in objects(result, "Job", "JobSet")) == kinds
    for size in (2, 4, 6):
        assert_trained(tmp_path / str(size), result, sizes={"trainer": size})


def assert_trained(
    folder: Path, result: Result, *, sizes: Mapping[str, int] | None = None, also: Mapping[str, str] | None = None
) -> None:
    """All trainers succeed while the helpers run on."""
    folder.mkdir(exist_ok=True)
    found = pods(result, sizes)
    names = {**machine.placed(resolved(result, found)), **(also or {})}
    with machine.running(folder / "run", found, names) as group:
        codes = group.codes(deciding="trainer")
        assert codes == {pod.title: 0 if pod.role == "trainer" else None for pod in found}, group.said()


def other_number(own: Env, peer: Env) -> Env:
    return {"PADDLE_INIT_TRAINER_ID": "0", "PADDLE_TRAINER_ID": "0"}


def one_more(own: Env, peer: Env) -> Env:
    return {"TRAINERS": str(int(own["TRAINERS"]) + 1)}


def next_port(own: Env, peer: Env) -> Env:
    return {"PADDLE_INIT_PORT": str(int(own["PADDLE_INIT_PORT"]) + 1)}


def one_server_twice(own: Env, peer: Env) -> Env:
    first = own["PADDLE_INIT_PSERVERS"].split(",")[0]
    return dict.fromkeys(("PADDLE_INIT_PSERVERS", "PADDLE_PSERVER_IPS"), f"{first},{first}")


def foreign_servers(own: Env, peer: Env) -> Env:
    """The servers as another run has them."""
    names = ("PADDLE_INIT_PSERVERS", "PADDLE_PSERVER_IPS")
    return {name: own[name].replace("resnet", "resnet50") for name in names}


def no_master(own: Env, peer: Env) -> Env:
    return {"MASTER_IP": own["PADDLE_INIT_PSERVERS"].split(",")[0]}


def no_etcd(own: Env, peer: Env) -> Env:
    return {"ETCD_IP": own["PADDLE_INIT_PSERVERS"].split(",")[0]}


def another_directory(own: Env, peer: Env) -> Env:
    return {"TRAINER_PACKAGE": "/root"}


@dataclass(frozen=True)
class Wrong:
    """One pod with another variable than was compiled, and what it says then."""

    group: str
    pod: str
    change: Change
    reason: str


WRONG = [
    Wrong("ps", "trainer-1", other_number, "trainer 0 is"),
    Wrong("ps", "trainer-1", one_more, "trainers, but 3 names"),
    Wrong("ps", "trainer-1", next_port, NOBODY),
    Wrong("ps", "trainer-1", foreign_servers, "Name or service not known"),
    Wrong("ps", "trainer-1", another_directory, "runs in"),
    Wrong("tolerant", "trainer-1", one_server_twice, "servers registered as"),
    Wrong("tolerant", "trainer-1", no_master, NOBODY),
    Wrong("tolerant", "trainer-1", no_etcd, NOBODY),
    Wrong("tolerant", "pserver-1", no_etcd, NOBODY),
    Wrong("nccl", "trainer-1", other_number, "trainer 0 is"),
    Wrong("nccl", "trainer-1", next_port, NOBODY),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.group}-{wrong.pod}-{wrong.change.__name__}")
def test_no_group_with_a_wrong_variable(wrong: Wrong, tmp_path: Path) -> None:
    programs, spec = GROUPS[wrong.group]
    patience = 1.0 if wrong.reason == NOBODY else PATIENCE
    result = training_job(tmp_path / "repo", programs, spec, patience=patience)
    found = {each.title: each for each in pods(result)}
    names = machine.placed(resolved(result, found.values()))
    changed = {wrong.pod: wrong.change(found[wrong.pod].env, found["trainer-0"].env)}
    with machine.running(tmp_path / "run", found.values(), names, changed) as group:
        assert group.code(wrong.pod) == 1
        assert wrong.reason in group.said(wrong.pod)
