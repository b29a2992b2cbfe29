"""The pods of a Training."""

from typing import Any

import pytest

from tests.unit.trainings import compiled, env, pod, trainer, training, workload

GPUS = {"limits": {"nvidia.com/gpu": 8}}
PROFILES = {
    "accelerators": {"h100": {"resources": {"nvidia.com/gpu": "8", "memory": "1Ti"}, "nodeSelector": {"gpu": "h100"}}},
    "networks": {
        "rdma": {"resources": {"rdma/ib": "1"}, "capabilities": ["IPC_LOCK"], "shmSize": "1Gi"},
        "host": {"hostNetwork": True},
    },
}


def template(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {**spec, **({"containers": list(containers)} if containers else {})}}


def on_trainer(**fields: Any) -> dict[str, Any]:
    return template({"name": "trainer", **fields})


@pytest.mark.parametrize(
    ("given", "resources", "processes"),
    [
        (None, {}, "1"),
        (None, GPUS, "8"),
        ("auto", GPUS, "8"),
        ("auto", {"limits": {"amd.com/gpu": 4, "cpu": 8}}, "4"),
        ("auto", {"limits": {"nvidia.com/mig-1g.5gb": 2}}, "2"),
        ("auto", {"limits": {"aliyun.com/gpu-mem": 24}}, "1"),
        ("gpu", GPUS, "8"),
        ("cpu", {"limits": {"cpu": "7500m"}}, "7"),
        ("cpu", {"requests": {"cpu": 2}, "limits": {"cpu": 4}}, "4"),
        ("cpu", {"requests": {"cpu": "500m"}}, "1"),
        ("3", GPUS, "3"),
    ],
)
def test_number_of_processes_on_each_node(given: str | None, resources: Any, processes: str) -> None:
    result = compiled(training(numProcPerNode=given, resourcesPerNode=resources))
    assert env(result)["PET_NPROC_PER_NODE"] == processes


def test_gpus_of_the_accelerator_and_of_the_template_count() -> None:
    by_profile = compiled(training(accelerator="h100", numProcPerNode="gpu"), profiles=PROFILES)
    by_template = compiled(training(numProcPerNode="gpu", template=on_trainer(resources=GPUS)))
    assert env(by_profile)["PET_NPROC_PER_NODE"] == env(by_template)["PET_NPROC_PER_NODE"] == "8"


def test_users_limits_win_over_those_of_profiles() -> None:
    model = training(accelerator="h100", network="rdma", resourcesPerNode={"limits": {"memory": "2Ti"}})
    limits = trainer(compiled(model, profiles=PROFILES))["resources"]["limits"]
    assert limits == {"nvidia.com/gpu": "8", "rdma/ib": "1", "memory": "2Ti"}


def test_shared_memory_of_the_spec_wins_over_that_of_the_network() -> None:
    for given, size in (("8Gi", "8Gi"), (None, "1Gi")):
        result = pod(compiled(training(network="rdma", shmSize=given), profiles=PROFILES))
        assert result["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]


def test_pods_that_say_nothing_have_a_restricted_security_context_and_no_token() -> None:
    result = compiled(training())
    assert pod(result)["automountServiceAccountToken"] is False
    assert pod(result)["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert trainer(result)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def test_a_platform_may_leave_security_contexts_alone() -> None:
    result = compiled(training(network="rdma"), profiles=PROFILES, policy={"fillSecurityContext": False})
    assert "securityContext" not in pod(result)
    assert trainer(result)["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}


def test_a_capability_of_the_network_is_added_and_all_others_are_dropped() -> None:
    result = compiled(training(network="rdma"), profiles=PROFILES)
    assert trainer(result)["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}


@pytest.mark.parametrize("where", ["pod", "container"])
def test_a_user_who_asks_for_root_gets_no_contradiction(where: str) -> None:
    root = {"securityContext": {"runAsUser": 0}}
    given = template(**root) if where == "pod" else on_trainer(**root)
    assert "runAsNonRoot" not in pod(compiled(training(template=given)))["securityContext"]


def test_a_privileged_container_may_escalate() -> None:
    for context in ({"privileged": True}, {"capabilities": {"add": ["SYS_ADMIN"]}}):
        found = trainer(compiled(training(template=on_trainer(securityContext=context))))["securityContext"]
        assert "allowPrivilegeEscalation" not in found


def test_the_security_context_of_other_containers_is_filled_in_too() -> None:
    given = template({"name": "logs", "image": "registry.example.com/ml/logs:1"})
    contexts = [each["securityContext"] for each in pod(compiled(training(template=given)))["containers"]]
    assert contexts[0] == contexts[1]


def test_the_trainer_gets_variables_and_mounts_wherever_it_is_in_the_template() -> None:
    given = template({"name": "logs", "image": "registry.example.com/ml/logs:1"})
    result = compiled(training(template=given, shmSize="1Gi"))
    logs, own = pod(result)["containers"]
    assert (logs["name"], own["name"]) == ("logs", "trainer")
    assert "env" not in logs
    assert "PET_NNODES" in env(result)


def test_a_variable_of_the_user_replaces_that_of_a_profile() -> None:
    profiles = {"networks": {"rdma": {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]}}}
    model = training(network="rdma", env=[{"name": "NCCL_DEBUG", "value": "INFO"}])
    assert env(compiled(model, profiles=profiles))["NCCL_DEBUG"] == "INFO"


def test_a_template_may_take_the_network_of_nodes_back() -> None:
    model = training(network="host", template=template(hostNetwork=False))
    assert not pod(compiled(model, profiles=PROFILES)).get("hostNetwork")
    found = pod(compiled(training(network="host"), profiles=PROFILES))
    assert (found["hostNetwork"], found["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert found["containers"][0]["ports"] == [{"containerPort": 29500, "hostPort": 29500, "protocol": "TCP"}]


def test_a_pod_that_fails_ends_a_job_of_fixed_size_and_restarts_in_an_elastic_one() -> None:
    fixed = workload(compiled(training(numNodes=2)))["spec"]
    elastic = workload(compiled(training(numNodes=2, elastic={"min": 1, "max": 4})))["spec"]
    assert (fixed["backoffLimit"], fixed["template"]["spec"]["restartPolicy"]) == (0, "Never")
    assert (elastic["backoffLimit"], elastic["template"]["spec"]["restartPolicy"]) == (12, "OnFailure")


def test_the_number_of_nodes_of_an_elastic_job_changes_in_place() -> None:
    def name(nodes: int, most: int = 8) -> str:
        found = workload(compiled(training(numNodes=nodes, elastic={"min": 2, "max": most})))
        return str(found["metadata"]["name"])

    assert name(2) == name(4)
    assert name(4) != name(4, 16)


@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_a_suspended_job_goes_on_as_the_same_run(engine: str) -> None:
    held, going = (workload(compiled(training(suspend=each), engines={"jobs": engine})) for each in (True, False))
    assert held["metadata"] == going["metadata"]
    assert held["spec"] == {**going["spec"], "suspend": True}


def test_attempts_are_counted_where_an_engine_restarts_the_whole_job() -> None:
    for engine, value in (("core", "0"), ("jobset", None)):
        job = compiled(training(), engines={"jobs": engine})
        found = workload(job)["spec"]
        found = found["replicatedJobs"][0]["template"]["spec"] if engine == "jobset" else found
        variables = {each["name"]: each.get("value") for each in found["template"]["spec"]["containers"][0]["env"]}
        assert variables["STOWPLAN_ATTEMPT"] == value


def test_the_deadline_is_that_of_the_job() -> None:
    assert workload(compiled(training(activeDeadlineSeconds=60)))["spec"]["activeDeadlineSeconds"] == 60


def test_the_service_of_pods_without_ports_has_none() -> None:
    """Server-side apply drops an empty list, so it would have no owner."""
    made = compiled(training(framework="none", numNodes=2)).unit.manifests
    (service,) = [each.body for each in made if each.kind == "Service"]
    assert "ports" not in service["spec"]
