"""Status conditions that several kinds of custom resources share, and the times of all conditions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.reporter.causes import DATASET, LINEAGE, PEERS, Cause
from stowplan.agents.reporter.objects.observed import Observed, newest_time
from stowplan.agents.reporter.outcome import RunOutcome

Status = dict[str, Any]

COMPLETE, FAILED, STALLED, SUSPENDED = "Complete", "Failed", "Stalled", "Suspended"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition before its times are set."""

    type: str
    holds: bool
    """The condition's status: True or False."""
    reason: str
    message: str = ""
    at: str = ""
    """Time at which the condition got this status (RFC 3339); empty if no object has it."""


def of_work(outcome: RunOutcome, cause: Cause | None) -> list[Condition]:
    """Return the conditions Complete, Failed, Stalled and Suspended, for a kind whose runs end.

    `outcome` must be a result of `explained`. `cause` is the cause found in the pods, or None. Before the end, it gives
    the reason and the message of Complete.
    """
    why = None if outcome.is_over else cause
    reason, message = (why.reason, why.message) if why else (outcome.reason, outcome.message)
    end = outcome.at if outcome.is_over else ""
    failed, suspended = outcome.state == "failed", outcome.state == "suspended"
    stalled = why is not None and why.lasting
    return [
        Condition(COMPLETE, outcome.state == "complete", reason, message, end),
        Condition(FAILED, failed, outcome.reason, message if failed else "", end),
        Condition(STALLED, stalled, reason if stalled else "NotStalled", message if stalled else ""),
        Condition(SUSPENDED, suspended, outcome.reason if suspended else "NotSuspended", message if suspended else ""),
    ]


def settled(drafts: Iterable[Condition], seen: Observed) -> list[Status]:
    """Return the conditions, with their times, in the form of the custom resource's status.

    If the present status in `seen` has a condition with the same type and status, the time of that condition is used.
    """
    present = by_type(seen.resource.status)
    now = newest_time(seen)
    generation = seen.resource.generation
    return [_settled(draft, present.get(draft.type), now, generation) for draft in drafts]


def by_type(status: Mapping[str, Any]) -> dict[str, Status]:
    """Return the conditions in the status of a custom resource, by type."""
    return {each["type"]: each for each in status.get("conditions") or () if "type" in each}


def is_over(status: Mapping[str, Any]) -> bool:
    """Return whether the status of a custom resource says that its run has ended, with success or failure."""
    conditions = by_type(status)
    return any((conditions.get(name) or {}).get("status") == "True" for name in (COMPLETE, FAILED))


def _settled(draft: Condition, present: Status | None, now: str, generation: int) -> Status:
    status = "True" if draft.holds else "False"
    since = draft.at or now
    if present and present.get("status") == status:
        since = present.get("lastTransitionTime") or since
    condition: Status = {"type": draft.type, "status": status, "reason": draft.reason}
    if draft.message:
        condition["message"] = draft.message
    return {**condition, "lastTransitionTime": since, "observedGeneration": generation}


def is_final(seen: Observed) -> bool:
    """Return whether the status must remain unchanged, because the run has ended and its Jobs are gone.

    A CronJob retains few of its Jobs. So between two scheduled runs the status remains that of the last run.
    """
    status, resource = seen.resource.status, seen.resource
    same = status.get("observedGeneration") == resource.generation
    gone = not (seen.jobs or seen.job_sets)
    return gone and is_over(status) and (same or bool(resource.spec.get("schedule")))


def last_cause(pods: Cause | None, status: Mapping[str, Any]) -> Cause | None:
    """Return the cause `pods`, which was found in the pods, if there is one.

    Otherwise, for example after the removal of the pods, return the cause that the present `status` reports; None if
    the status reports no cause.
    """
    if pods is not None:
        return pods
    before = by_type(status).get(COMPLETE) or {}
    reason = str(before.get("reason") or "")
    if before.get("status") != "False" or reason in _NO_CAUSE:
        failed = by_type(status).get(FAILED) or {}
        return None if failed.get("status") != "True" else _again(failed)
    return _again(before)


_NO_CAUSE = frozenset({"", "NotStarted", "Running", "Suspended", "Succeeded", DATASET, LINEAGE, PEERS})


def _again(condition: Mapping[str, Any]) -> Cause:
    return Cause(str(condition.get("reason")), str(condition.get("message") or ""), 9)
