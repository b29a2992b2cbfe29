"""Causes that the reporter finds in pods that do not work."""

import json
from typing import Any

import pytest

from stowplan.agents.reporter import causes
from stowplan.agents.reporter.causes import Cause
from stowplan.agents.reporter.objects import pods
from tests.unit.agents.reporter.given import NAMESPACE, conditions, ended, job, pending, pod, running, time, waiting_for

JOB = job("PaddleJob", "worker", 2)


def cause(**status: Any) -> Cause | None:
    found = pods.pod(pod(JOB, **status), NAMESPACE)
    assert found is not None
    return causes.of_pod(found)


def disrupted(reason: str) -> dict[str, Any]:
    more = conditions(4, "DisruptionTarget", reason=reason, message="taken away")
    return {**running(2), "conditions": [*running(2)["conditions"], *more]}


def waiting(reason: str) -> dict[str, Any]:
    return pending(waiting={"reason": reason, "message": "no such thing"})


def restarted(code: int, reason: str = "Error") -> dict[str, Any]:
    last = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": time(3)}}
    status = {"name": "main", "ready": True, "restartCount": 2, "state": {"running": {}}, "lastState": last}
    return {**running(2), "containerStatuses": [status]}


LOST = {**running(2), "conditions": conditions(2, "ContainersReady") + conditions(6, "-Ready")}
GATED = {
    **running(2),
    "conditions": conditions(2, "ContainersReady") + conditions(6, "-Ready", reason="ReadinessGatesNotReady"),
}
UNSCHEDULABLE: dict[str, Any] = {
    "phase": "Pending",
    "conditions": conditions(2, "-PodScheduled", reason="Unschedulable", message="0/4 nodes are available"),
}


@pytest.mark.parametrize(
    ("status", "reason", "lasting"),
    [
        (ended(137, reason="OOMKilled"), "OOMKilled", False),
        (restarted(137, "OOMKilled"), "OOMKilled", False),
        (ended(3), "ContainerFailed", False),
        (ended(137), "ContainerFailed", False),
        (restarted(1), "ContainerFailed", False),
        (disrupted("EvictionByEvictionAPI"), "Evicted", False),
        (disrupted("TerminationByKubelet"), "Evicted", False),
        (disrupted("DeletionByTaintManager"), "NodeLost", False),
        (disrupted("DeletionByPodGC"), "NodeLost", False),
        (disrupted("PreemptionByScheduler"), "Preempted", False),
        (disrupted("SomethingNew"), "Disrupted", False),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}, "Evicted", False),
        ({"phase": "Failed", "reason": "DeadlineExceeded"}, "DeadlineExceeded", False),
        (LOST, "NodeLost", False),
        (waiting("ErrImagePull"), "ImagePullFailed", True),
        (waiting("ImagePullBackOff"), "ImagePullFailed", True),
        (waiting("InvalidImageName"), "ImagePullFailed", True),
        (waiting("CreateContainerConfigError"), "ContainerConfigError", True),
        (UNSCHEDULABLE, "Unschedulable", False),
    ],
)
def test_reason(status: dict[str, Any], reason: str, *, lasting: bool) -> None:
    found = cause(**status)
    assert found is not None
    assert (found.reason, found.lasting) == (reason, lasting)
    assert "it-paddlejob-worker-abcdefgh-0-xyz" in found.message


@pytest.mark.parametrize("status", [running(2), pending(), ended(0), GATED])
def test_nothing_is_wrong(status: dict[str, Any]) -> None:
    assert cause(**status) is None


def test_a_message_has_pod_node_and_exit_code() -> None:
    found = cause(**ended(3))
    assert found is not None
    assert found.message == (
        "pod it-paddlejob-worker-abcdefgh-0-xyz on node node-0: container main ended with exit code 3"
    )


def test_a_pod_that_waits_for_its_dataset() -> None:
    found = pods.pod({**pod(JOB), **waiting_for("criteo")}, NAMESPACE)
    assert found is not None
    cause = causes.of_pod(found)
    assert cause is not None
    assert (cause.reason, cause.lasting) == ("DatasetNotReady", False)
    assert cause.message == "pod it-paddlejob-worker-abcdefgh-0-xyz on node node-0 waits for dataset criteo"


def test_a_pod_that_waits_for_peers() -> None:
    waiting = {
        "status": {"phase": "Pending", "initContainerStatuses": [{"name": "wait-peers", "state": {"running": {}}}]}
    }
    found = pods.pod({**pod(JOB), **waiting}, NAMESPACE)
    assert found is not None
    told = causes.of_pod(found)
    assert told is not None
    assert (told.reason, told.lasting) == ("WaitingForPeers", False)
    assert told.message.endswith("waits for its peers")


@pytest.mark.parametrize(("started", "reason"), [(False, "WaitingForLineage"), (True, None)])
def test_a_pod_that_waits_for_another_run_of_its_lineage(*, started: bool, reason: str | None) -> None:
    sidecar = {"name": "hold-lineage", "restartPolicy": "Always", "args": ["--path", "/x", "--lineage", "ml/llama"]}
    status = {"name": "hold-lineage", "started": started, "state": {"running": {}}}
    waiting = {"spec": {"initContainers": [sidecar]}, "status": {"phase": "Pending", "initContainerStatuses": [status]}}
    found = pods.pod({**pod(JOB), **waiting}, NAMESPACE)
    assert found is not None
    told = causes.of_pod(found)
    assert (told.reason if told else None) == reason
    assert told is None or "waits for lineage ml/llama: another run has its checkpoints" in told.message


def test_termination_message_of_an_agent() -> None:
    words = json.dumps({"exitCode": 3, "reason": "AccessDenied", "message": "no access"})
    found = cause(**ended(3, message=words))
    assert found is not None
    assert found.reason == "AccessDenied"
    assert found.message.endswith("ended with exit code 3: no access")


def test_stopped_await_and_sidecars_are_no_cause() -> None:
    manifest = pod(JOB, **ended(1))
    manifest["status"]["containerStatuses"][0]["name"] = "await"
    manifest["spec"]["initContainers"] = [{"name": "server", "restartPolicy": "Always"}]
    state = {"terminated": {"exitCode": 143, "reason": "Error"}}
    manifest["status"]["initContainerStatuses"] = [
        {"name": "server", "ready": False, "restartCount": 0, "state": state}
    ]
    found = pods.pod(manifest, NAMESPACE)
    assert found is not None
    assert causes.of_pod(found) is None


def _sidecar(restarts: int, state: dict[str, Any], code: int = 1, reason: str = "Error") -> Cause | None:
    last = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": time(3)}}
    manifest = pod(JOB)
    manifest["spec"]["initContainers"] = [{"name": "server", "restartPolicy": "Always"}]
    manifest["status"]["initContainerStatuses"] = [
        {"name": "server", "ready": False, "restartCount": restarts, "state": state, "lastState": last}
    ]
    found = pods.pod(manifest, NAMESPACE)
    assert found is not None
    return causes.of_pod(found)


BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}


@pytest.mark.parametrize(("code", "reason"), [(1, "Error"), (137, "Error"), (137, "OOMKilled")])
def test_a_server_that_crashes_again_and_again_stalls_the_job(code: int, reason: str) -> None:
    found = _sidecar(7, BACK_OFF, code, reason)
    assert found is not None
    assert found.lasting
    assert f"exit code {code}" in found.message


def test_a_server_that_crashes_again_and_again_is_told_with_code_and_count() -> None:
    found = _sidecar(7, BACK_OFF)
    assert found is not None
    assert found.message.endswith("container server ended with exit code 1, started again (7 times)")


@pytest.mark.parametrize(("restarts", "state"), [(2, BACK_OFF), (7, {"running": {}})])
def test_a_server_that_crashed_but_runs_or_may_yet_run_does_not_stall_the_job(
    restarts: int, state: dict[str, Any]
) -> None:
    found = _sidecar(restarts, state)
    assert found is not None
    assert not found.lasting


def test_the_cause_with_the_lowest_weight_is_reported() -> None:
    made = [pod(JOB, 0, **UNSCHEDULABLE), pod(JOB, 1, **ended(137, reason="OOMKilled"))]
    found = causes.of_pods(each for manifest in made if (each := pods.pod(manifest, NAMESPACE)))
    assert found is not None
    assert (found.reason, "it-paddlejob-worker-abcdefgh-1-xyz" in found.message) == ("OOMKilled", True)


def test_many_pods_with_one_cause_are_counted() -> None:
    made = [pod(JOB, index, **ended(2)) for index in range(7)]
    found = causes.of_pods(each for manifest in made if (each := pods.pod(manifest, NAMESPACE)))
    assert found is not None
    assert found.message.count("exit code 2") == 3
    assert found.message.endswith("; and 4 more")
