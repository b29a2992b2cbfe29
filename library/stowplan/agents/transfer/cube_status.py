"""Status of a DataCube, as its agent reports it."""

from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, AttemptOutcome, condition, percent
from stowplan.schema.kinds.data_cube_status import INITIALIZED

_PHASES = {RUNNING: "Running", SUCCEEDED: "Succeeded", FAILED: "Failed"}


def status(outcome: AttemptOutcome, *, phase: bool) -> dict[str, Any]:
    """Return the fields of the DataCube's status, without times.

    `phase` adds `phase` and `conditions`. Without it the reporter, another program in the cluster, sets these fields.
    """
    fields: dict[str, Any] = {
        "progress": percent(outcome.progress.snapshot(), done=outcome.result == SUCCEEDED),
        "attempt": outcome.entry(),
    }
    if outcome.revision:
        fields["revision"] = outcome.revision
    return fields | (_phase(outcome) if phase else {})


def _phase(outcome: AttemptOutcome) -> dict[str, Any]:
    """Return the fields `phase` and `conditions`.

    `Failed` may be temporary: the attempt does not know whether the Job starts another one.
    """
    conditions = [
        condition("Initialized", "Started", INITIALIZED, holds=True),
        condition("Complete", *outcome.present, holds=outcome.result == SUCCEEDED),
        condition("Failed", *outcome.present, holds=outcome.result == FAILED),
    ]
    return {"phase": _PHASES[outcome.result], "conditions": conditions}
