"""Reading a Job's state from its manifest."""

from typing import Any

import pytest

from stowplan.agents.await_group.job_state import JobState, Phase, read, state_of
from stowplan.agents.cluster.following import Deleted


def job(*conditions: str, **spec: Any) -> dict[str, Any]:
    """A Job with true conditions of these types; `-` before a type for a false one."""
    status = [
        {"type": each.removeprefix("-"), "status": "False" if each.startswith("-") else "True"} for each in conditions
    ]
    return {
        "metadata": {"name": "worker", "uid": "u", "resourceVersion": "7"},
        "spec": spec,
        "status": {"conditions": status},
    }


@pytest.mark.parametrize(
    ("manifest", "phase"),
    [
        (job(), Phase.RUNNING),
        (job(suspend=False), Phase.RUNNING),
        (job(suspend=True), Phase.SUSPENDED),
        (job("-Suspended", "-Failed", "-Complete"), Phase.RUNNING),
        (job("SuccessCriteriaMet"), Phase.ENDING),
        (job("FailureTarget"), Phase.ENDING),
        (job("SuccessCriteriaMet", "Complete"), Phase.COMPLETE),
        (job("FailureTarget", "Failed"), Phase.FAILED),
        (job("Suspended", "Failed", suspend=True), Phase.FAILED),
    ],
)
def test_phase(manifest: dict[str, Any], phase: Phase) -> None:
    assert read(manifest) == JobState(phase, "u", "7")


def test_a_new_job_has_no_status_yet() -> None:
    assert read({"metadata": {"uid": "u", "resourceVersion": "7"}}).phase is Phase.RUNNING


def test_deadline_and_reason() -> None:
    manifest = job(activeDeadlineSeconds=1)
    condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active too long"}
    manifest["status"]["conditions"] = [condition]
    assert read(manifest) == JobState(Phase.FAILED, "u", "7", 1, "DeadlineExceeded: Job was active too long")


@pytest.mark.parametrize(
    ("manifest", "phase"),
    [(job(), Phase.GONE), (job("SuccessCriteriaMet"), Phase.GONE), (job("Complete"), Phase.COMPLETE)],
)
def test_a_job_that_is_deleted_after_its_end_keeps_its_outcome(manifest: dict[str, Any], phase: Phase) -> None:
    assert state_of(Deleted(manifest)).phase is phase
