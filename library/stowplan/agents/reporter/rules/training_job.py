"""Status of a TrainingJob, as Baidu's operator would write it."""

from collections.abc import Mapping
from typing import Any

from stowplan.agents.reporter.causes import DEADLINE
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.training_group import Role, Training, reason_of, training

DECIDER = "trainer"
ORDER = ("master", "pserver", "trainer")
_RUNNING = ("Running", "Scaling")

_MOST_RECORDS = 50
"""Maximum number of records in the status; the oldest are dropped."""

_PENDING, _DONE, _UNDONE = "Unknown", "True", "False"


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    if is_final(seen):
        return None
    spec = seen.resource.spec
    walltime = (spec.get("annotations") or {}).get("walltime")
    found = training(seen, (DECIDER,), walltime=walltime)
    trainers = found.roles.get(DECIDER)
    records = _scale_records(found, trainers)
    phase = _phase(found, scales=bool(records) and records[-1].get("status") == _PENDING)
    return {
        "phase": phase,
        "reason": reason_of(found) or _REASONS.get(phase),
        "trainers": _share(trainers),
        "pservers": _share(found.roles.get("pserver")),
        "fulfillment": _fulfillment(trainers, spec.get("trainer") or {}),
        "scale_records": {"ScaleRecords": records} if records else None,
        "replica_statuses": [_replica(found.roles[name]) for name in ORDER if name in found.roles] or None,
        "startTime": found.start(runs=phase in _RUNNING),
        "released": all(pod.is_over for pod in found.run.pods) if found.outcome.is_over else None,
        "run": found.run.name or None,
        "conditions": settled(of_work(found.outcome, found.cause), seen),
    }


_REASONS = {
    "Creating": "pods are being created",
    "Running": "all pods are running",
    "Scaling": "the number of trainers changes",
}


def _phase(found: Training, *, scales: bool) -> str:
    if found.outcome.state == "complete":
        return "Succeed"
    if found.outcome.state == "failed":
        return "Timeout" if found.outcome.reason == DEADLINE else "Failed"
    if found.outcome.state in ("absent", "suspended"):
        return "Creating"
    if not (found.all_run or found.before.get("phase") in _RUNNING):
        return "Creating"
    return "Scaling" if scales else "Running"


def _share(role: Role | None) -> str | None:
    return f"{min(role.present, role.wanted)}/{role.wanted}" if role else None


def _fulfillment(trainers: Role | None, spec: Mapping[str, Any]) -> str | None:
    if trainers is None:
        return None
    least = int(spec.get("min-instance") or 0)
    most = int(spec.get("max-instance") or least)
    if most <= least:
        return "100%"
    return f"{max(0, min(100, (trainers.wanted - least) * 100 // (most - least)))}%"


def _replica(role: Role) -> Status:
    """Return the entry of a role in `replica_statuses`, with the field names and values of Baidu's operator.

    That operator counts every pod that does not run yet as `starting`.
    """
    counts = {
        "starting": role.counts["pending"] + role.counts["starting"] + role.counts["unknown"],
        "running": role.counts["running"],
        "succeeded": role.counts["succeeded"],
        "failed": role.counts["failed"],
    }
    return {
        "training_resource_type": role.name,
        "state": role.state,
        "resource_states": {state: count for state, count in counts.items() if count},
    }


def _scale_records(found: Training, role: Role | None) -> list[Status]:
    """Return the records of this run's changes, oldest first. `role` is the trainers' role; None gives an empty list.

    A new record is added if the wanted number of trainers differs from the last reported one. The status of a record is
    `Unknown` until all wanted trainers run, then `True`. It is `False` if the next change came before that.
    """
    if role is None or not found.run.is_there:
        return []
    known = [dict(each) for each in (found.before.get("scale_records") or {}).get("ScaleRecords") or ()]
    last = _wanted(str(found.before.get("trainers") or ""))
    if last is not None and last != role.wanted and not found.outcome.is_over:
        if known and known[-1].get("status") == _PENDING:
            known[-1]["status"] = _UNDONE
        known.append(_scale_record(found, last, role.wanted))
    is_done = found.outcome.is_over or (role.is_complete and role.counts["running"] <= role.wanted)
    if known and known[-1].get("status") == _PENDING and is_done:
        known[-1]["status"] = _DONE
    return known[-_MOST_RECORDS:]


def _wanted(trainers: str) -> int | None:
    """Return the wanted number of trainers, 6, from a report such as `2/6`; None if the report has another form."""
    text = trainers.partition("/")[2]
    return int(text) if text.isdecimal() else None


def _scale_record(found: Training, before: int, now: int) -> Status:
    times = [job.resized for job in found.run.jobs if job.parallelism == now and job.resized]
    record: Status = {"additional": now - before, "status": _PENDING, "reason": f"from {before} to {now} trainers"}
    return {"scaleTimestamp": max(times), **record} if times else record


RULES = Rules(
    status,
    frozenset(
        "phase reason trainers pservers fulfillment scale_records replica_statuses startTime released run conditions "
        "observedGeneration".split()
    ),
    {
        "fault_tolerant": None,
        "trainer": ("min-instance", "max-instance"),
        "pserver": ("min-instance", "max-instance"),
        "annotations": ("walltime",),
    },
)
