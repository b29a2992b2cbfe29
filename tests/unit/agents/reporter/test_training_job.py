"""The status of a TrainingJob."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    RUN,
    Manifest,
    complete,
    condition,
    conditions,
    ended,
    failed,
    job,
    job_set,
    message,
    pending,
    pod,
    report,
    resource,
    time,
)

KIND = "TrainingJob"
SPEC = {"fault_tolerant": True, "trainer": {"min-instance": 2, "max-instance": 6}, "pserver": {"min-instance": 1}}


def trainers(size: int = 2, **fields: Any) -> Manifest:
    return job(KIND, "trainer", size, **fields)


def pservers(**fields: Any) -> Manifest:
    found = job(KIND, "pserver", 1, **fields)
    found["spec"]["template"]["spec"]["containers"] = [{"name": "await"}]
    return found


def given(status: Manifest | None = None, **spec: Any) -> Manifest:
    return resource(KIND, {**SPEC, **spec}, status)


def judge(*objects: Manifest, status: Manifest | None = None, **spec: Any) -> Any:
    return report(KIND, given(status, **spec), *objects)


def test_nothing_yet() -> None:
    status = judge()
    assert (status["phase"], condition(status, "Complete")) == ("Creating", ("False", "NotStarted"))
    assert "run" not in status


def test_creating_until_all_run() -> None:
    work = trainers()
    status = judge(work, pservers(), pod(work, 0), pod(work, 1, **pending()), pod(pservers()))
    assert (status["phase"], status["trainers"], status["pservers"]) == ("Creating", "1/2", "1/1")
    assert "startTime" not in status


def test_running() -> None:
    work = trainers()
    status = judge(work, pservers(), pod(work, 0, minute=2), pod(work, 1, minute=4), pod(pservers()))
    assert (status["phase"], status["reason"], status["startTime"]) == ("Running", "all pods are running", time(4))
    assert (status["run"], status["fulfillment"], status["observedGeneration"]) == (RUN, "0%", 1)
    assert status["replica_statuses"] == [
        {"training_resource_type": "pserver", "state": "running", "resource_states": {"running": 1}},
        {"training_resource_type": "trainer", "state": "running", "resource_states": {"running": 2}},
    ]


def test_phase_and_start_are_unchanged_while_a_trainer_is_replaced() -> None:
    work = trainers()
    before = judge(work, pod(work, 0), pod(work, 1))
    status = judge(work, pod(work, 0), pod(work, 1, **pending()), status=before)
    assert (status["phase"], status["trainers"], status["startTime"]) == ("Running", "1/2", before["startTime"])


def test_another_run_begins_anew() -> None:
    old, new = trainers(), trainers(run="hgfedcba", minute=9)
    before = judge(old, pod(old, 0), pod(old, 1))
    status = judge(old, new, pod(old, 0), pod(old, 1), pod(new, 0, **pending()), status=before)
    assert (status["phase"], status["run"], status["trainers"]) == ("Creating", "hgfedcba", "0/2")
    assert "startTime" not in status


def test_same_run_made_again_begins_anew() -> None:
    work = trainers()
    before = judge({**work, "status": complete(20, 2)})
    assert before["phase"] == "Succeed"
    status = judge(work, pod(work, 0, **pending()), status=before)
    assert (status["phase"], condition(status, "Complete")[0]) == ("Creating", "False")


def test_success() -> None:
    status = judge(trainers(status=complete(30, 2)), pservers())
    assert (status["phase"], condition(status, "Complete")) == ("Succeed", ("True", "Succeeded"))
    assert [each["lastTransitionTime"] for each in status["conditions"] if each["type"] == "Complete"] == [time(30)]
    assert status["released"] is True


def test_pods_that_still_end_are_not_released() -> None:
    status = judge(trainers(status=complete(30, 2)), pservers(), pod(pservers()))
    assert (status["phase"], status["released"]) == ("Succeed", False)


def test_failure_names_pod_node_and_exit_code() -> None:
    work = trainers(status=failed(20, "PodFailurePolicy"))
    status = judge(work, pod(work, 1, **ended(3)))
    assert (status["phase"], condition(status, "Failed")) == ("Failed", ("True", "ContainerFailed"))
    for words in ("trainer-abcdefgh-1-xyz", "node-1", "exit code 3"):
        assert words in status["reason"]


def test_failure_is_reported_after_its_pods_are_gone() -> None:
    work = trainers()
    before = judge(work, pod(work, 0, **ended(137, reason="OOMKilled")))
    status = judge({**work, "status": failed(20)}, status=before)
    assert condition(status, "Failed") == ("True", "OOMKilled")
    assert "trainer-abcdefgh-0-xyz" in message(status, "Failed")


def test_failure_of_an_older_run_is_not_reported_for_this_run() -> None:
    old = trainers()
    before = judge(old, pod(old, 0, **ended(137, reason="OOMKilled")))
    status = judge(trainers(run="hgfedcba", minute=9, status=failed(20)), status=before)
    assert condition(status, "Failed") == ("True", "BackoffLimitExceeded")


def test_walltime() -> None:
    work = trainers(status=failed(20, "DeadlineExceeded"), activeDeadlineSeconds=60)
    status = judge(work, pod(work, 0, **ended(143)), annotations={"walltime": 60})
    assert (status["phase"], condition(status, "Failed")) == ("Timeout", ("True", "DeadlineExceeded"))


def test_end_by_await_is_no_timeout() -> None:
    work = trainers(status=failed(20, "DeadlineExceeded"), activeDeadlineSeconds=1)
    status = judge(work)
    assert (status["phase"], condition(status, "Failed")) == ("Failed", ("True", "HelperLost"))


def test_end_by_await_says_why() -> None:
    work = trainers(status=failed(20, "DeadlineExceeded"), activeDeadlineSeconds=1)
    why = "container main of pod it-0 ended with exit code 137, and what it held is lost"
    work["metadata"]["annotations"] = {"stowplan.dev/ended-because": why}
    status = judge(work)
    assert message(status, "Failed") == status["reason"] == f"A helper was lost, so the job was ended: {why}"


def test_server_that_crashes_again_and_again_before_it_listens_stalls() -> None:
    """Await does not end the group then: the server may come, once somebody has helped."""
    work, servers = trainers(), pservers()
    last = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": time(3)}}
    crashing = pod(servers)
    crashing["spec"]["initContainers"] = [{"name": "pserver", "restartPolicy": "Always"}]
    crashing["status"]["initContainerStatuses"] = [
        {
            "name": "pserver",
            "ready": False,
            "restartCount": 5,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": last,
        }
    ]
    status = judge(work, servers, crashing, pod(work, 0), pod(work, 1))
    assert condition(status, "Stalled") == ("True", "ContainerFailed")
    assert "exit code 1, started again (5 times)" in message(status, "Stalled")


def test_suspended() -> None:
    status = judge(trainers(suspend=True, status={"conditions": conditions(3, "Suspended")}))
    assert (status["phase"], condition(status, "Suspended")[0]) == ("Creating", "True")
    resumed = judge(trainers(), status=status)
    assert condition(resumed, "Suspended")[0] == "False"


def test_image_that_is_missing_stalls() -> None:
    work = trainers()
    status = judge(work, pod(work, 0, **pending(waiting={"reason": "ImagePullBackOff", "message": "no x"})))
    assert (status["phase"], condition(status, "Stalled")) == ("Creating", ("True", "ImagePullFailed"))


def test_a_full_cluster_is_reported_and_stalls_nothing() -> None:
    work = trainers()
    waits: Manifest = {"phase": "Pending", "conditions": conditions(2, "-PodScheduled", reason="Unschedulable")}
    status = judge(work, pod(work, 0, **waits))
    assert (condition(status, "Complete"), condition(status, "Stalled")[0]) == (("False", "Unschedulable"), "False")


def resized(size: int, minute: int) -> Manifest:
    found = trainers(size)
    fields: Manifest = {"f:spec": {"f:parallelism": {}}}
    found["metadata"]["managedFields"] = [{"manager": "kueue", "time": time(minute), "fieldsV1": fields}]
    return found


def test_scaling() -> None:
    before = judge(resized(4, 1), *(pod(trainers(), index) for index in range(4)))
    assert before["fulfillment"] == "50%"
    assert "scale_records" not in before
    more = resized(6, 12)
    during = judge(more, *(pod(more, index) for index in range(4)), status=before)
    record = {"scaleTimestamp": time(12), "additional": 2, "status": "Unknown", "reason": "from 4 to 6 trainers"}
    assert (during["phase"], during["scale_records"]) == ("Scaling", {"ScaleRecords": [record]})
    after = judge(more, *(pod(more, index) for index in range(6)), status=during)
    assert (after["phase"], after["scale_records"]) == ("Running", {"ScaleRecords": [{**record, "status": "True"}]})


def test_scaling_overtaken_by_another_scaling() -> None:
    before = judge(resized(4, 1), *(pod(trainers(), index) for index in range(4)))
    during = judge(resized(6, 12), *(pod(trainers(), index) for index in range(4)), status=before)
    later = judge(resized(2, 13), *(pod(trainers(), index) for index in range(4)), status=during)
    known = [(each["additional"], each["status"]) for each in later["scale_records"]["ScaleRecords"]]
    assert known == [(2, "False"), (-4, "Unknown")]


def test_helpers_in_a_job_set_and_trainers_in_a_job() -> None:
    helpers = job_set(KIND, pserver=1, master=1)
    work = trainers()
    status = judge(helpers, work, pod(work, 0), pod(work, 1))
    assert (status["phase"], status["pservers"]) == ("Creating", "0/1")


@pytest.mark.parametrize(
    ("type_", "phase"), [("Completed", "Succeed"), ("Failed", "Failed"), ("Suspended", "Creating")]
)
def test_all_in_a_job_set(type_: str, phase: str) -> None:
    found = job_set(KIND, {"conditions": conditions(20, type_)}, pserver=1, trainer=2)
    assert judge(found)["phase"] == phase


def test_final_status_outlives_the_jobs() -> None:
    before = judge(trainers(status=complete(30, 2)))
    assert judge(status=before) is None


def test_removal_of_running_jobs_is_reported() -> None:
    work = trainers()
    before = judge(work, pod(work, 0), pod(work, 1))
    status = judge(status=before)
    assert (status["phase"], condition(status, "Complete")) == ("Creating", ("False", "NotStarted"))
