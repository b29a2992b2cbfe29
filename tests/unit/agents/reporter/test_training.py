"""The status of a Training."""

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
    waiting_for,
)

KIND = "Training"
STARTING = pending() | {"phase": "Running"}
NOWHERE: Manifest = {"phase": "Pending", "conditions": conditions(2, "-PodScheduled", reason="Unschedulable")}
PEERS: Manifest = {
    **pending(waiting={"reason": "PodInitializing"}),
    "initContainerStatuses": [{"name": "wait-peers", "ready": False, "restartCount": 0, "state": {"running": {}}}],
}


def nodes(size: int = 2, **fields: Any) -> Manifest:
    return job(KIND, "node", size, **fields)


def judge(*objects: Manifest, status: Manifest | None = None, **spec: Any) -> Any:
    return report(KIND, resource(KIND, {"numNodes": 2, **spec}, status), *objects)


def with_pods(*states: Manifest, status: Manifest | None = None) -> Any:
    """What is reported of a Job with two nodes and these pods; `{}` for one that is ready."""
    work = nodes()
    return judge(work, *(pod(work, index, **state) for index, state in enumerate(states)), status=status)


def waits_for_a_dataset(work: Manifest, index: int) -> Manifest:
    made = pod(work, index)
    return {**made, **waiting_for("c4")}


def told(status: Any) -> tuple[str, str]:
    return status["phase"], status["nodesReady"]


def test_nothing_yet() -> None:
    status = judge()
    assert (told(status), condition(status, "Complete")) == (("Pending", "0/2"), ("False", "NotStarted"))
    assert not {"run", "startTime", "restarts"} & set(status)


@pytest.mark.parametrize(
    ("states", "phase", "ready"),
    [
        ((), "Pending", 0),
        (({},), "Pending", 1),
        (({}, NOWHERE), "Pending", 1),
        (({}, pending()), "Pending", 1),
        ((PEERS, NOWHERE), "Pending", 0),
        ((PEERS, PEERS), "Waiting", 0),
        (({}, PEERS), "Waiting", 1),
        ((STARTING, PEERS), "Waiting", 0),
        (({}, STARTING), "Starting", 1),
        (({}, {}), "Running", 2),
        (({}, ended(0)), "Running", 2),
    ],
)
def test_the_phase_is_that_of_the_pod_that_is_furthest_behind(
    states: tuple[Manifest, ...], phase: str, ready: int
) -> None:
    status = with_pods(*states)
    assert told(status) == (phase, f"{ready}/2")
    assert (status["nodes"], status["readyNodes"], status["run"]) == (2, ready, RUN)


def test_waiting_for_a_dataset_names_it() -> None:
    work = nodes()
    status = judge(work, waits_for_a_dataset(work, 0), waits_for_a_dataset(work, 1))
    assert status["phase"] == "Waiting"
    assert "waits for dataset c4" in status["message"]
    assert condition(status, "Complete") == ("False", "DatasetNotReady")


def test_a_pod_without_a_node_is_explained() -> None:
    status = with_pods(PEERS, NOWHERE)
    assert "waits for a node" in status["message"]
    assert condition(status, "Stalled")[0] == "False"


def test_running_starts_when_the_last_pod_is_ready() -> None:
    work = nodes()
    status = judge(work, pod(work, 0, minute=2), pod(work, 1, minute=4))
    assert (status["phase"], status["startTime"], status["observedGeneration"]) == ("Running", time(4), 1)
    assert not {"message", "restarts", "completionTime"} & set(status)


def test_success() -> None:
    before = with_pods({}, {})
    status = judge(nodes(status=complete(30, 2)), status=before)
    assert (told(status), condition(status, "Complete")) == (("Succeeded", "2/2"), ("True", "Succeeded"))
    assert (status["startTime"], status["completionTime"]) == (before["startTime"], time(30))
    assert "message" not in status


def test_failure_names_pod_node_and_exit_code() -> None:
    work = nodes(status=failed(20))
    status = judge(work, pod(work, 0), pod(work, 1, **ended(3)))
    assert (status["phase"], condition(status, "Failed")) == ("Failed", ("True", "ContainerFailed"))
    for words in ("node-abcdefgh-1-xyz", "node-1", "exit code 3"):
        assert words in status["message"]
    assert status["message"] == message(status, "Failed")
    assert status["completionTime"] == time(20)


def test_the_deadline_fails_the_job() -> None:
    work = nodes(status=failed(20, "DeadlineExceeded", "Job was active longer than specified deadline"))
    status = judge(work, pod(work, 0, **ended(143)), activeDeadlineSeconds=60)
    assert (status["phase"], condition(status, "Failed")) == ("Failed", ("True", "DeadlineExceeded"))
    assert "deadline" in status["message"]


def test_a_failed_pod_changes_the_phase_only_when_the_job_fails_or_replaces_it() -> None:
    before = with_pods({}, {})
    work = nodes()
    lost = pod(work, 1, **ended(3))
    during = judge(work, pod(work, 0), lost, status=before)
    assert told(during) == ("Running", "1/2")
    assert "exit code 3" in during["message"]
    again = judge(work, pod(work, 0), lost, pod(work, 1, name="new", **pending()), status=during)
    assert told(again) == ("Restarting", "1/2")
    after = judge(work, pod(work, 0), lost, pod(work, 1, name="new"), status=again)
    assert (told(after), after["startTime"]) == (("Running", "2/2"), before["startTime"])


def test_a_pod_that_fails_before_all_ran_leaves_the_phase() -> None:
    before = with_pods(STARTING, STARTING)
    assert told(with_pods(ended(1), {}, status=before)) == ("Starting", "1/2")


def test_a_pod_whose_node_does_not_answer_leaves_the_phase_and_is_not_ready() -> None:
    before = with_pods({}, {})
    signs = [*conditions(2, "PodScheduled", "ContainersReady"), *conditions(9, "-Ready", reason="NodeNotReady")]
    status = with_pods({}, {"conditions": signs}, status=before)
    assert told(status) == ("Running", "1/2")
    assert condition(status, "Complete") == ("False", "NodeLost")
    assert "the node does not answer" in status["message"]


def sets(restarts: int) -> tuple[Manifest, Manifest]:
    """A JobSet and its Job, whose pods are made anew with each restart."""
    found = job_set(KIND, {"restarts": restarts}, node=2)
    child = job(KIND, "node", 2)
    child["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": found["metadata"]["name"]}]
    return found, child


def test_a_job_set_that_starts_again_is_restarting_until_all_its_pods_run() -> None:
    found, child = sets(0)
    before = judge(found, child, pod(child, 0), pod(child, 1))
    assert (told(before), before["restarts"]) == (("Running", "2/2"), 0)
    again, child = sets(1)
    old = [pod(child, index, name=f"old-{index}") for index in range(2)]
    for each in old:
        each["metadata"]["deletionTimestamp"] = time(9)
    during = judge(again, child, *old, status=before)
    assert (told(during), during["restarts"]) == (("Restarting", "0/2"), 1)
    assert during["message"] == "The whole job starts again after a failure: 1 restart so far"
    during = judge(again, child, pod(child, 0), pod(child, 1, **STARTING), status=during)
    assert (told(during), during["startTime"]) == (("Restarting", "1/2"), before["startTime"])
    after = judge(again, child, pod(child, 0), pod(child, 1), status=during)
    assert (told(after), after["restarts"], after["startTime"]) == (("Running", "2/2"), 1, before["startTime"])


def test_a_job_set_that_ends() -> None:
    found, child = sets(2)
    done = {**found, "status": {"restarts": 2, "conditions": conditions(30, "Completed")}}
    assert judge(done, {**child, "status": complete(30, 2)})["phase"] == "Succeeded"
    lost = {**found, "status": {"restarts": 2, "conditions": conditions(30, "Failed", message="too many restarts")}}
    status = judge(lost, {**child, "status": failed(30)})
    assert (status["phase"], status["restarts"]) == ("Failed", 2)
    assert "too many restarts" in status["message"]
    assert status["message"].endswith(", after 2 restarts")


def test_restarts_that_cost_nothing_are_told_from_those_that_count() -> None:
    found, child = sets(0)
    found = {**found, "status": {"restarts": 3, "restartsCountTowardsMax": 1}}
    status = judge(found, child, pod(child, 0), pod(child, 1))
    assert (status["restarts"], status["countedRestarts"]) == (3, 1)


def test_the_deadline_of_a_job_in_a_job_set_is_named() -> None:
    found, child = sets(0)
    lost = {**found, "status": {"conditions": conditions(30, "Failed", reason="FailJobSetFailurePolicyAction")}}
    late = {**child, "status": failed(30, "DeadlineExceeded")}
    status = judge(lost, late)
    assert condition(status, "Failed") == ("True", "DeadlineExceeded")


HELD = {"conditions": conditions(3, "Suspended")}


def test_suspended_by_the_user() -> None:
    status = judge(nodes(suspend=True, status=HELD), suspend=True)
    assert (told(status), condition(status, "Suspended")[0]) == (("Suspended", "0/2"), "True")
    resumed = with_pods({}, pending(), status=status)
    assert (resumed["phase"], condition(resumed, "Suspended")[0]) == ("Pending", "False")


def test_held_back_by_a_queue() -> None:
    status = judge(nodes(suspend=True, status=HELD))
    assert status["phase"] == "Pending"
    assert "until it is the job's turn" in status["message"]


def test_stopped_by_a_queue_and_admitted_again() -> None:
    before = with_pods({}, {})
    status = judge(nodes(suspend=True, status=HELD), status=before)
    assert status["phase"] == "Pending"
    assert "preempts, or that ran too long" in status["message"]
    assert with_pods(pending(), pending(), status=status)["phase"] == "Restarting"


def test_another_run_begins_anew() -> None:
    old, new = nodes(), nodes(run="hgfedcba", minute=9)
    before = judge(old, pod(old, 0), pod(old, 1))
    status = judge(old, new, pod(old, 0), pod(old, 1), pod(new, 0, **pending()), status=before)
    assert (told(status), status["run"]) == (("Pending", "0/2"), "hgfedcba")
    assert "startTime" not in status


def test_status_stays_after_the_jobs_are_gone() -> None:
    before = judge(nodes(status=complete(30, 2)))
    assert judge(status=before) is None


def test_an_elastic_job_counts_the_nodes_that_it_has_now() -> None:
    work = nodes(3)
    status = judge(work, *(pod(work, index) for index in range(3)), numNodes=4, elastic={"min": 2, "max": 4})
    assert told(status) == ("Running", "3/3")
