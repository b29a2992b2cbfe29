"""Records of changes of the number of trainers, in the form that Baidu's operator wrote into the status."""

from typing import Any

from stowplan.agents.reporter.rules.training_group import Role, Training

MOST = 50
"""Maximum number of records in the status; the oldest are dropped."""

PENDING, DONE, UNDONE = "Unknown", "True", "False"

Record = dict[str, Any]


def records(found: Training, role: Role | None) -> list[Record]:
    """Return the records of this run's changes, oldest first. `role` is the trainers' role; None gives an empty list.

    A new record is added if the wanted number of trainers differs from the last reported one. The status of a record is
    `Unknown` until all wanted trainers run, then `True`. It is `False` if the next change came before that.
    """
    if role is None or not found.run.is_there:
        return []
    known = [dict(each) for each in (found.before.get("scale_records") or {}).get("ScaleRecords") or ()]
    last = _wanted(str(found.before.get("trainers") or ""))
    if last is not None and last != role.wanted and not found.outcome.is_over:
        if known and known[-1].get("status") == PENDING:
            known[-1]["status"] = UNDONE
        known.append(_record(found, last, role.wanted))
    if known and known[-1].get("status") == PENDING and _is_done(found, role):
        known[-1]["status"] = DONE
    return known[-MOST:]


def is_pending(known: list[Record]) -> bool:
    """Return whether the newest record is still `Unknown`: its change is not finished. `known` is the oldest first."""
    return bool(known) and known[-1].get("status") == PENDING


def _wanted(trainers: str) -> int | None:
    """Return the wanted number of trainers, 6, from a report such as `2/6`; None if the report has another form."""
    text = trainers.partition("/")[2]
    return int(text) if text.isdecimal() else None


def _record(found: Training, before: int, now: int) -> Record:
    times = [job.resized for job in found.run.jobs if job.parallelism == now and job.resized]
    record: Record = {"additional": now - before, "status": PENDING, "reason": f"from {before} to {now} trainers"}
    return {"scaleTimestamp": max(times), **record} if times else record


def _is_done(found: Training, role: Role) -> bool:
    return found.outcome.is_over or (role.is_complete and role.counts["running"] <= role.wanted)
