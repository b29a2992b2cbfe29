"""Status of a SampleSet or SampleJob whose dataset is a claim, as the agent of its sync reports it."""

from collections.abc import Mapping
from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, AttemptOutcome, condition
from stowplan.agents.runtime.dataset_phase import Course, of_claim
from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents import field_managers

FIELD_MANAGER = field_managers.task("sync", 0)
"""Field manager of the only task: a claim has no partitions, and its only task is the sync."""

_COURSES: Mapping[str, Course] = {RUNNING: "under way", SUCCEEDED: "succeeded", FAILED: "failed"}
_PHASES_OF_JOB = {RUNNING: "Running", SUCCEEDED: "Succeeded", FAILED: "Failed"}


class DatasetStatus:
    """Status of one attempt, which begins when this object is created."""

    def __init__(self, kind: str, outcome: AttemptOutcome, *, phase: bool) -> None:
        self._kind, self._outcome, self._phase = kind, outcome, phase
        self._began = now()

    def fields(self) -> dict[str, Any]:
        """Return the status fields without times of reports. With `phase` they include the fields of a reporter."""
        outcome = self._outcome
        told = {key: value for key, value in outcome.entry().items() if key != "result"}
        own = {"task": "sync", "partition": 0, "state": outcome.result, "reason": outcome.reason}
        entry = {**told, **own, "startedAt": self._began}
        status: dict[str, Any] = {"attempts": [entry]}
        return status | (self._derived() if self._phase else {})

    def _derived(self) -> dict[str, Any]:
        """Return phase and conditions. `Failed` may be temporary: the attempt does not know whether the Job retries."""
        outcome, kind = self._outcome, self._kind
        done, failed = outcome.result == SUCCEEDED, outcome.result == FAILED
        held = {"Synced": done, "Ready": done} if kind == "SampleSet" else {"Complete": done, "Failed": failed}
        conditions = [condition(name, outcome.reason, outcome.message, holds=holds) for name, holds in held.items()]
        result = outcome.result
        phase = of_claim(_COURSES[result]) if kind == "SampleSet" else _PHASES_OF_JOB[result]
        derived: dict[str, Any] = {"phase": phase, "conditions": conditions}
        if kind == "SampleJob":
            derived["jobName"] = outcome.run or ""
            derived["counts"] = {
                "total": 1,
                "running": int(not done and not failed),
                "succeeded": int(done),
                "failed": int(failed),
            }
        return derived
