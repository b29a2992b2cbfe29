"""The status of a Training with outputs."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    condition,
    failed,
    job,
    message,
    pod,
    report,
    resource,
    time,
)

KIND = "Training"
FINAL = {"path": "/runs/final", "to": {"claim": {"name": "archive"}}}
LOGS = {"path": "/runs/logs", "to": {"claim": {"name": "logs"}}, "when": "always"}


def copier(index: int = 0, *, run: str = "copycopy", **fields: Any) -> Manifest:
    """The Job that copies an output, which has a hash of its own."""
    made = job(KIND, "output", run=run, **fields)
    made["metadata"]["labels"]["stowplan.dev/output"] = str(index)
    made["metadata"]["name"] = f"it-training-output-{index}-{run}"
    return made


def node(**fields: Any) -> Manifest:
    return job(KIND, "node", **fields)


def judge(*objects: Manifest, outputs: tuple[Manifest, ...] = (FINAL,)) -> Any:
    return report(KIND, resource(KIND, {"numNodes": 1, "outputs": list(outputs)}), *objects)


def phases(status: Manifest) -> list[str]:
    return [each["phase"] for each in status["outputs"]]


def test_outputs_wait_while_the_run_is_under_way() -> None:
    run = node()
    status = judge(run, copier(minute=3), pod(run))
    assert (status["phase"], status["nodesReady"], phases(status)) == ("Running", "1/1", ["Waiting"])
    assert status["run"] == run["metadata"]["name"].rpartition("-")[2]


def test_a_run_that_is_complete_is_running_until_its_outputs_are_copied() -> None:
    done = node(status=complete(5))
    status = judge(done, copier())
    assert (status["phase"], phases(status)) == ("Running", ["Running"])
    assert condition(status, "Complete") == ("False", "CopyingOutputs")
    assert status["message"] == "The run is complete; /runs/final is being copied"
    status = judge(done, copier(status=complete(9)))
    assert (status["phase"], phases(status), status["completionTime"]) == ("Succeeded", ["Succeeded"], time(9))
    assert condition(status, "Complete") == ("True", "Succeeded")


def test_an_output_without_a_job_is_pending() -> None:
    status = judge(node(status=complete(5)))
    assert (status["phase"], phases(status)) == ("Running", ["Pending"])


def test_the_newest_copy_of_an_output_counts() -> None:
    old, new = copier(run="aaaaaaaa", minute=3, status=complete(5)), copier(run="bbbbbbbb", minute=7)
    status = judge(node(status=complete(4)), old, new)
    assert (status["phase"], phases(status)) == ("Running", ["Running"])


@pytest.mark.parametrize(("copied", "phase"), [(None, "Running"), (complete(9), "Succeeded"), (failed(9), "Failed")])
def test_a_run_that_failed_has_failed_whatever_is_copied(copied: Manifest | None, phase: str) -> None:
    status = judge(node(status=failed(5)), copier(0), copier(1, status=copied), outputs=(FINAL, LOGS))
    assert (status["phase"], phases(status)) == ("Failed", ["Skipped", phase])
    assert condition(status, "Failed") == ("True", "BackoffLimitExceeded")


def test_a_copy_that_failed_fails_the_whole_and_says_why() -> None:
    status = judge(node(status=complete(5)), copier(status=failed(9, message="no access")))
    assert (status["phase"], phases(status)) == ("Failed", ["Failed"])
    assert condition(status, "Failed") == ("True", "OutputFailed")
    assert "/runs/final was not copied" in message(status, "Failed")
    assert "no access" in status["message"]


def test_a_job_without_outputs_has_none_in_its_status() -> None:
    assert "outputs" not in report(KIND, resource(KIND, {"numNodes": 1}), node())
