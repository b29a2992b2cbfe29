"""Standard conditions of all kinds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.reporter.causes import DATASET, Cause
from stowplan.agents.reporter.observed import Observed, newest_time
from stowplan.agents.reporter.outcome import RunOutcome

Status = dict[str, Any]

COMPLETE, FAILED, STALLED, SUSPENDED = "Complete", "Failed", "Stalled", "Suspended"


@dataclass(frozen=True, slots=True)
class Draft:
    """A condition before its times are set; `at` is empty if no object has the time of the change."""

    type: str
    holds: bool
    reason: str
    message: str = ""
    at: str = ""


def of_work(outcome: RunOutcome, cause: Cause | None) -> list[Draft]:
    """Return the conditions of a kind that runs to an end. `outcome` must come from `explained`.

    Until the end, Complete has the reason why the run is not complete.
    """
    why = None if outcome.is_over else cause
    reason, message = (why.reason, why.message) if why else (outcome.reason, outcome.message)
    end = outcome.at if outcome.is_over else ""
    failed, suspended = outcome.state == "failed", outcome.state == "suspended"
    stalled = why is not None and why.lasting
    return [
        Draft(COMPLETE, outcome.state == "complete", reason, message, end),
        Draft(FAILED, failed, outcome.reason, message if failed else "", end),
        Draft(STALLED, stalled, reason if stalled else "NotStalled", message if stalled else ""),
        Draft(SUSPENDED, suspended, outcome.reason if suspended else "NotSuspended", message if suspended else ""),
    ]


def settled(drafts: Iterable[Draft], seen: Observed) -> list[Status]:
    """Return the conditions with their times. A condition with an unchanged status keeps its time."""
    present = by_type(seen.resource.status)
    now = newest_time(seen)
    generation = seen.resource.generation
    return [_settled(draft, present.get(draft.type), now, generation) for draft in drafts]


def by_type(status: Mapping[str, Any]) -> dict[str, Status]:
    """Return the conditions of a status by type."""
    return {each["type"]: each for each in status.get("conditions") or () if "type" in each}


def is_over(status: Mapping[str, Any]) -> bool:
    """Return whether the status reports the end of a run."""
    conditions = by_type(status)
    return any((conditions.get(name) or {}).get("status") == "True" for name in (COMPLETE, FAILED))


def _settled(draft: Draft, present: Status | None, now: str, generation: int) -> Status:
    status = "True" if draft.holds else "False"
    since = draft.at or now
    if present and present.get("status") == status:
        since = present.get("lastTransitionTime") or since
    condition: Status = {"type": draft.type, "status": status, "reason": draft.reason}
    if draft.message:
        condition["message"] = draft.message
    return {**condition, "lastTransitionTime": since, "observedGeneration": generation}


def last_cause(pods: Cause | None, status: Mapping[str, Any]) -> Cause | None:
    """Return the cause found in the pods; after their removal, the cause that was reported before."""
    if pods is not None:
        return pods
    before = by_type(status).get(COMPLETE) or {}
    told = str(before.get("reason") or "")
    if before.get("status") != "False" or told in _NO_CAUSE:
        failed = by_type(status).get(FAILED) or {}
        return None if failed.get("status") != "True" else _again(failed)
    return _again(before)


_NO_CAUSE = frozenset({"", "NotStarted", "Running", "Suspended", "Succeeded", DATASET})


def _again(condition: Mapping[str, Any]) -> Cause:
    return Cause(str(condition.get("reason")), str(condition.get("message") or ""), 9)
