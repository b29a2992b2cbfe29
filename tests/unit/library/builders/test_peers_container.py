"""The init container that waits for the addresses of all pods: which jobs have it, and what it waits for."""

from typing import Any

import pytest

from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import Json
from stowplan.schema.agents.peers import parse
from tests.unit.specs import codes, lowered, mx_job, mx_role, of_kind, paddle_job, role, training_job

ENGINES = ["core", "jobset"]
GANGS = ["none", "volcano", "coscheduling"]
PS: dict[str, Any] = {"ps": role(2), "worker": role(3)}
ELASTIC = {"paddle": {"elasticServers": ["etcd.ml:2379"]}}
SERVERS = {"min-instance": 2, "entrypoint": "serve"}
TRAINERS = {"min-instance": 3, "entrypoint": "train"}


def pods(result: Lowered) -> dict[str, Json]:
    """Pod specs by role."""
    jobs = [each.body["spec"] for each in of_kind(result, "Job")]
    for each in of_kind(result, "JobSet"):
        jobs += [job["template"]["spec"] for job in each.body["spec"]["replicatedJobs"]]
    templates = [job["template"] for job in jobs]
    return {each["metadata"]["labels"]["stowplan.dev/role"]: each["spec"] for each in templates}


def waits(result: Lowered) -> dict[str, list[str]]:
    """Host names and endpoints that the pods of each role wait for."""
    found = {}
    for name, spec in pods(result).items():
        own = [each for each in spec.get("initContainers", ()) if each["name"] == "wait-peers"]
        words = [parse(word) for each in own for word in each["args"][2:]]
        found[name] = [
            host if peers.port is None else f"{host}:{peers.port}" for peers in words for host in peers.hosts()
        ]
    return found


def variable(spec: Json, name: str) -> str:
    every = [*spec.get("initContainers", ()), *spec["containers"]]
    return next(str(each["value"]) for one in every for each in one.get("env", ()) if each["name"] == name)


@pytest.mark.parametrize("gang", GANGS)
@pytest.mark.parametrize("jobs", ENGINES)
def test_workers_wait_for_every_worker_in_their_variables(jobs: str, gang: str) -> None:
    result = lowered(paddle_job(worker=role(3)), engines={"jobs": jobs, "gang": gang})
    trainers = variable(pods(result)["worker"], "PADDLE_TRAINERS").split(",")
    assert waits(result) == {"worker": trainers}
    assert len(trainers) == 3


@pytest.mark.parametrize("jobs", ENGINES)
def test_workers_wait_until_servers_listen_and_servers_for_names_only(jobs: str) -> None:
    result = lowered(paddle_job(**PS), engines={"jobs": jobs})
    found, spec = waits(result), pods(result)["worker"]
    endpoints = variable(spec, "PADDLE_PSERVERS_IP_PORT_LIST").split(",")
    trainers = variable(spec, "PADDLE_TRAINERS").split(",")
    assert found == {
        "ps": [*(each.partition(":")[0] for each in endpoints), *trainers],
        "worker": [*endpoints, *trainers],
    }


@pytest.mark.parametrize("gloo", [1, 2])
def test_nobody_waits_for_ports_with_gloo(gloo: int) -> None:
    """With Gloo, servers listen only after all workers have met."""
    found = waits(lowered(paddle_job(**PS, withGloo=gloo)))
    assert found["worker"] == found["ps"]
    assert len(found["ps"]) == 5
    assert not [each for each in found["ps"] if ":" in each]


@pytest.mark.parametrize("jobs", ENGINES)
def test_trainers_alone_wait_for_each_other(jobs: str) -> None:
    result = lowered(training_job(is_nccl=True, trainer=TRAINERS), engines={"jobs": jobs})
    assert waits(result) == {"trainer": variable(pods(result)["trainer"], "PADDLE_TRAINER_IPS").split(",")}


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize(
    "job",
    [
        paddle_job(worker=role(1)),
        paddle_job(worker=role(3), elastic=1),
        training_job(trainer=TRAINERS, pserver=SERVERS),
        training_job(trainer={**TRAINERS, "min-instance": 1}, local_job=True),
        training_job(trainer=TRAINERS, pserver=SERVERS, fault_tolerant=True),
        training_job(trainer=TRAINERS, is_nccl=True, fault_tolerant=True),
        mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), mx_role("WORKER")),
    ],
    ids=["one pod", "elastic", "transpiler", "local", "tolerant", "tolerant collective", "mxnet"],
)
def test_jobs_of_one_pod_and_programs_that_retry_do_not_wait(job: Any, jobs: str) -> None:
    found = waits(lowered(job, engines={"jobs": jobs}, **ELASTIC))
    assert found
    assert not any(found.values())


@pytest.mark.parametrize("jobs", ENGINES)
def test_peers_come_after_the_dataset_and_before_all_else(jobs: str) -> None:
    own = {"initContainers": [{"name": "fetch", "image": "fetch:1"}]}
    reference = {"name": "data", "mountPath": "/data", "wait": {}}
    job = paddle_job(sampleSetRef=reference, ps=role(1, spec=own), worker=role(2, spec=own))
    for spec in pods(lowered(job, engines={"jobs": jobs})).values():
        assert [each["name"] for each in spec["initContainers"]][:3] == ["wait-dataset", "wait-peers", "fetch"]


def test_the_container_is_restricted_and_has_no_rights() -> None:
    (spec,) = pods(lowered(paddle_job(worker=role(2)), engines={"peersTimeoutSeconds": 60})).values()
    (container,) = spec["initContainers"]
    assert container["args"][:2] == ["--timeout", "60"]
    assert container["resources"].keys() == {"limits", "requests"}
    security = container["securityContext"]
    assert (security["runAsNonRoot"], security["readOnlyRootFilesystem"]) == (True, True)
    assert (security["allowPrivilegeEscalation"], security["capabilities"]) == (False, {"drop": ["ALL"]})
    assert "volumeMounts" not in container


@pytest.mark.parametrize("jobs", ENGINES)
def test_names_are_published_before_pods_are_ready(jobs: str) -> None:
    result = lowered(paddle_job(worker=role(2)), engines={"jobs": jobs})
    services = [each.body["spec"]["publishNotReadyAddresses"] for each in of_kind(result, "Service")]
    networks = [each.body["spec"]["network"]["publishNotReadyAddresses"] for each in of_kind(result, "JobSet")]
    assert [*services, *networks] == [True]


def test_a_user_container_of_that_name_is_an_error_where_pods_wait() -> None:
    own = {"initContainers": [{"name": "wait-peers", "image": "mine:1"}]}
    assert codes(lowered(paddle_job(worker=role(2, spec=own)))) == ["SP450"]
    assert codes(lowered(paddle_job(worker=role(1, spec=own)))) == []
