"""The status of PaddleJobs and MxJobs."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    condition,
    ended,
    failed,
    job,
    job_set,
    message,
    pending,
    pod,
    report,
    resource,
    running,
    time,
    waiting_for,
)

PADDLE = {"ps": {"replicas": 1}, "worker": {"replicas": 2}}
MXNET = {
    "jobMode": "dist",
    "replicaSpecs": [
        {"mxReplicaType": "SCHEDULER", "replicas": 1},
        {"mxReplicaType": "SERVER", "replicas": 1},
        {"mxReplicaType": "WORKER", "replicas": 2},
    ],
}
STARTING = {**running(2), "containerStatuses": [{"name": "main", "ready": False, "restartCount": 0, "state": {}}]}


def worker(**fields: Any) -> Manifest:
    return job("PaddleJob", "worker", 2, **fields)


def ps(**fields: Any) -> Manifest:
    return job("PaddleJob", "ps", 1, **fields)


def paddle(*objects: Manifest, status: Manifest | None = None, spec: Manifest = PADDLE) -> Any:
    return report("PaddleJob", resource("PaddleJob", spec, status), *objects)


@pytest.mark.parametrize(
    ("second", "phase"),
    [({}, "Running"), (STARTING, "Starting"), (pending(), "Pending"), (ended(0), "Running")],
)
def test_paddle_phase(second: Manifest, phase: str) -> None:
    status = paddle(worker(), ps(), pod(worker(), 0), pod(worker(), 1, **second), pod(ps()))
    assert (status["phase"], status["mode"]) == (phase, "PS")
    assert ("startTime" in status) is (phase == "Running")


def test_a_job_that_waits_for_its_dataset_is_reported() -> None:
    waits = {**pod(worker(), 0), **waiting_for("criteo")}
    status = paddle(worker(), waits)
    assert status["phase"] == "Pending"
    assert condition(status, "Complete") == ("False", "DatasetNotReady")
    assert "waits for dataset criteo" in message(status, "Complete")
    # This is no cause of a failure after the pods are gone.
    gone = paddle(worker(status=failed(20)), status=status)
    assert condition(gone, "Failed") == ("True", "BackoffLimitExceeded")


def test_paddle_counts_and_names_pods() -> None:
    status = paddle(worker(), ps(), pod(worker(), 0), pod(worker(), 1, **pending()))
    assert {key: value for key, value in status["worker"].items() if key != "refs"} == {"running": 1, "pending": 1}
    assert [each["name"][-5:] for each in status["worker"]["refs"]] == ["0-xyz", "1-xyz"]
    assert status["ps"] == {"running": 0}


def test_paddle_completes_with_its_workers() -> None:
    status = paddle(worker(status=complete(30, 2)), ps(), pod(ps()))
    assert (status["phase"], status["completionTime"]) == ("Completed", time(30))


def test_paddle_pserver_that_is_done_is_no_success() -> None:
    status = paddle(worker(), ps(status=complete(30)), pod(worker(), 0), pod(worker(), 1))
    assert status["phase"] == "Running"


def test_paddle_fails_with_a_worker() -> None:
    status = paddle(worker(status=failed(20)), ps(status=complete(20)), pod(worker(), 1, **ended(1)))
    assert (status["phase"], condition(status, "Failed"), status["completionTime"]) == (
        "Failed", ("True", "ContainerFailed"), time(20),
    )  # fmt: skip


def test_paddle_worker_under_retry_is_no_failure() -> None:
    status = paddle(worker(), ps(), pod(worker(), 0, **ended(1)), pod(worker(), 1), pod(ps()))
    assert (status["phase"], condition(status, "Complete")) == ("Pending", ("False", "ContainerFailed"))


def test_paddle_pod_of_a_lost_node_is_unknown() -> None:
    ready = [each if each["type"] != "Ready" else {**each, "status": "False"} for each in running(2)["conditions"]]
    lost = {**running(2), "conditions": ready}
    before = paddle(worker(), ps(), pod(worker(), 0), pod(worker(), 1), pod(ps()))
    status = paddle(worker(), ps(), pod(worker(), 0), pod(worker(), 1, **lost), pod(ps()), status=before)
    assert (status["phase"], status["worker"]["unknown"], condition(status, "Complete")[1]) == (
        "Running",
        1,
        "NodeLost",
    )


@pytest.mark.parametrize(
    ("spec", "mode"),
    [(PADDLE, "PS"), ({"worker": {"replicas": 2}}, "Collective"), ({"worker": {"replicas": 1}}, "Single")],
)
def test_paddle_mode(spec: Manifest, mode: str) -> None:
    assert paddle(spec=spec)["mode"] == mode


def test_paddle_job_set() -> None:
    found = job_set("PaddleJob", ps=1, worker=2)
    status = paddle(found)
    assert (status["phase"], set(status) & {"ps", "worker"}) == ("Pending", {"ps", "worker"})


def mx(*objects: Manifest, success: str = "scheduler", spec: Manifest = MXNET, status: Manifest | None = None) -> Any:
    return report("MxJob", resource("MxJob", spec, status), *objects, mxnet=success)


def roles(**statuses: Manifest) -> list[Manifest]:
    sizes = {"scheduler": 1, "server": 1, "worker": 2}
    return [job("MxJob", name, size, status=statuses.get(name)) for name, size in sizes.items()]


def test_mx_running() -> None:
    scheduler, server, work = roles()
    status = mx(scheduler, server, work, pod(scheduler), pod(server), pod(work, 0), pod(work, 1))
    assert status["phase"] == "Running"
    assert "state" not in status
    assert status["replicaStatuses"][2] == {
        "Mx_replica_type": "WORKER", "state": "Running", "ReplicasStates": {"Running": 2},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("success", "statuses", "expected"),
    [
        ("scheduler", {"scheduler": complete(9)}, ("Done", "Succeeded")),
        ("scheduler", {"scheduler": complete(9), "worker": failed(8)}, ("Done", "Succeeded")),
        ("worker", {"scheduler": complete(9), "worker": failed(8)}, ("Done", "Failed")),
        ("worker", {"scheduler": complete(9)}, ("Creating", None)),
        ("worker", {"scheduler": complete(9), "worker": complete(9, 2)}, ("Done", "Succeeded")),
        ("scheduler", {"worker": failed(8)}, ("Done", "Failed")),
        ("scheduler", {"worker": complete(8, 2)}, ("Creating", None)),
        ("scheduler", {"server": failed(8)}, ("Creating", None)),
    ],
)
def test_mx_end(success: str, statuses: dict[str, Manifest], expected: tuple[str, str | None]) -> None:
    status = mx(*roles(**statuses), success=success)
    assert (status["phase"], status.get("state")) == expected


def test_mx_worker_failure_is_reported_although_await_ended_the_scheduler() -> None:
    """A deadline of one second is also how an agent ends the rest of a group that has failed."""
    ended_by_await = job("MxJob", "scheduler", status=failed(6, "DeadlineExceeded"), activeDeadlineSeconds=1)
    work = job("MxJob", "worker", 2, status=failed(5, "PodFailurePolicy"))
    status = mx(ended_by_await, work, pod(work, 0, **ended(3)))
    assert (status["state"], condition(status, "Failed")) == ("Failed", ("True", "ContainerFailed"))
    assert "exit code 3" in status["reason"]


def test_mx_walltime_is_reported_although_await_ended_the_scheduler() -> None:
    ended_by_await = job("MxJob", "scheduler", status=failed(6, "DeadlineExceeded"), activeDeadlineSeconds=1)
    work = job("MxJob", "worker", 2, status=failed(5, "DeadlineExceeded"), activeDeadlineSeconds=60)
    assert condition(mx(ended_by_await, work), "Failed") == ("True", "DeadlineExceeded")


def test_mx_local() -> None:
    work = job("MxJob", "worker", 1, status=complete(9))
    status = mx(work, spec={"jobMode": "local", "replicaSpecs": [{}]})
    assert (status["phase"], status["state"]) == ("Done", "Succeeded")
