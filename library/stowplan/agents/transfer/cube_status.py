"""The status of a DataCube, as its agent tells it."""

from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, Outcome, percent

_PHASES = {RUNNING: "Running", SUCCEEDED: "Succeeded", FAILED: "Failed"}


def status(outcome: Outcome, *, phase: bool) -> dict[str, Any]:
    """Fields without times; `phase` says whether no reporter writes phase and conditions."""
    told: dict[str, Any] = {
        "progress": percent(outcome.progress.snapshot(), done=outcome.result == SUCCEEDED),
        "attempt": outcome.entry(),
    }
    if outcome.revision:
        told["revision"] = outcome.revision
    return told | (_phase(outcome) if phase else {})


def _phase(outcome: Outcome) -> dict[str, Any]:
    """Failed only as far as this attempt goes: whether the Job tries again is not known here."""
    held = {"Initialized": True, "Complete": outcome.result == SUCCEEDED, "Failed": outcome.result == FAILED}
    conditions = [
        {
            "type": name,
            "status": "True" if holds else "False",
            "reason": "Started" if name == "Initialized" else outcome.reason,
            "message": "The agent runs" if name == "Initialized" else outcome.message,
        }
        for name, holds in held.items()
    ]
    return {"phase": _PHASES[outcome.result], "conditions": conditions}
