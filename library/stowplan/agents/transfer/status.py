"""Status fields that the agent of a transfer writes: of a DataCube, of a dataset, and of a task on a dataset."""

from typing import Any, Literal

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, AttemptOutcome, condition, filled, percent
from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents import field_managers
from stowplan.schema.kinds.data_cube_status import INITIALIZED
from stowplan.schema.kinds.table import DATASET_KINDS, TASK_FIELDS

_PHASES = {RUNNING: "Running", SUCCEEDED: "Succeeded", FAILED: "Failed"}


def of_cube(outcome: AttemptOutcome, *, phase: bool) -> dict[str, Any]:
    """Return the fields of the DataCube's status, without times.

    `phase` adds `phase` and `conditions`. Without it the reporter, another program in the cluster, sets these fields.
    """
    fields: dict[str, Any] = {
        "progress": percent(outcome.progress, done=outcome.result == SUCCEEDED),
        "attempt": outcome.entry(),
    }
    if outcome.revision:
        fields["revision"] = outcome.revision
    if phase:
        fields |= _ended(outcome)
        fields["conditions"].insert(0, condition("Initialized", "Started", INITIALIZED, holds=True))
    return fields


def _ended(outcome: AttemptOutcome) -> dict[str, Any]:
    """Return the fields `phase` and `conditions`.

    `Failed` may be temporary: the attempt does not know whether the Job starts another one.
    """
    held = {"Complete": outcome.result == SUCCEEDED, "Failed": outcome.result == FAILED}
    conditions = [condition(name, *outcome.present, holds=holds) for name, holds in held.items()]
    return {"phase": _PHASES[outcome.result], "conditions": conditions}


class DatasetStatus:
    """Status of one attempt to fill a dataset or to do a task on it. It begins when this object is created.

    `kind` is that of the object with the status. `task` is `copy` if the source is a claim, otherwise `sync`. `phase`
    is true if no reporter sets the phase and the conditions.
    """

    def __init__(self, kind: str, task: Literal["sync", "copy"], outcome: AttemptOutcome, *, phase: bool) -> None:
        self._kind, self._task, self._outcome, self._phase = kind, task, outcome, phase
        self._began = now()

    @property
    def manager(self) -> str:
        """Field manager with which the agent applies the status. The task has one Job: partition 0."""
        return field_managers.task(self._task, 0)

    def fields(self) -> dict[str, Any]:
        """Return the status fields. The only time in them is the start of the attempt.

        If `phase` was given, they include the fields that the reporter, another program in the cluster, otherwise sets.
        """
        outcome = self._outcome
        fields = {key: value for key, value in outcome.entry().items() if key != "result"}
        own = {"task": self._task, "partition": 0, "state": outcome.result, "reason": outcome.present[0]}
        entry = {**fields, **own, "startedAt": self._began}
        status: dict[str, Any] = {"attempts": [entry]}
        # During a sync it is not known what the dataset holds.
        is_over = outcome.result != RUNNING
        if outcome.revision and is_over and self._kind in DATASET_KINDS:
            status["revision"] = outcome.revision
        return status | (self._derived() if self._phase else {})

    def _derived(self) -> dict[str, Any]:
        """Return the fields `phase` and `conditions`, and for a task also its Job and the counts of its partitions.

        `Failed` may be temporary: the attempt does not know whether the Job starts another one.
        """
        outcome, kind = self._outcome, self._kind
        if kind in DATASET_KINDS:
            return filled(outcome)
        done, failed = outcome.result == SUCCEEDED, outcome.result == FAILED
        job, counts = TASK_FIELDS[kind]
        return {
            **_ended(outcome),
            job: outcome.run or "",
            counts: {
                "total": 1,
                "running": int(not done and not failed),
                "succeeded": int(done),
                "failed": int(failed),
            },
        }
