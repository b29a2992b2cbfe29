"""Status of a SampleJob or another task on a dataset, without the entries about attempts, which its agents write."""

from collections.abc import Sequence

from stowplan.agents.reporter.objects.observed import Observed, earliest
from stowplan.agents.reporter.outcome import ABSENT, RunOutcome, of_job, together
from stowplan.agents.reporter.rules import tasks
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Condition, Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.tasks import Entry
from stowplan.schema.kinds.table import TASK_FIELDS

_PARTITIONED = ("warmup", "clear")


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    return of_task(seen, str(seen.resource.spec.get("type") or ""))


def of_task(seen: Observed, task: str) -> Status | None:
    """Return the status fields of a task on a dataset, for any kind of task resource; None to change nothing.

    `task` is the agents' word for the task, such as `sync`. Absent fields are None or missing.
    """
    job_field, counts_field = TASK_FIELDS[seen.resource.kind]
    run = tasks.run_of(task, seen)
    entries = tasks.attempts(seen.resource.status, task)
    elsewhere = not run.is_there and task == "sync" and bool(entries)
    if is_final(seen) and not elsewhere:
        return None
    if not run.is_there and not elsewhere and seen.resource.spec.get("schedule"):
        return {}
    parts = [of_job(job) for job in run.jobs]
    name = run.jobs[0].name if run.jobs else entries[0].get("run") if elsewhere else None
    before = seen.resource.status if seen.resource.status.get(job_field) == name else {}
    total = max(len(parts), _expected(seen, task, (before.get(counts_field) or {}).get("total")))
    # A partition without a Job counts as absent.
    found = tasks.of_entries(entries) if elsewhere else together([*parts, *[ABSENT] * (total - len(parts))])
    found, cause = tasks.judged(found, run, entries, before)
    begun = elsewhere or tasks.has_begun(run.pods) or before.get("phase") == "Running"
    reported = entries if elsewhere else ()
    started = [*(job.started for job in run.jobs), *(str(each.get("startedAt") or "") for each in reported)]
    return {
        "phase": tasks.phase(found, begun=begun),
        job_field: name,
        counts_field: _counts(parts, reported, total),
        "startTime": earliest(started) or None,
        "completionTime": found.at or None if found.is_over else None,
        "conditions": settled([*of_work(found, cause), *_warmed(task, seen)], seen),
    }


def _expected(seen: Observed, task: str, before: int | None) -> int:
    """Return the number of Jobs that a task should have; `before` is the one in the status of this run, if any.

    A node that is added to a dataset is warmed, but not cleared.
    """
    if task == "clear" and before is not None:
        return before
    return (seen.partitions or 1) if task in _PARTITIONED else 1


def _counts(parts: Sequence[RunOutcome], entries: Sequence[Entry], total: int) -> Status:
    states = [part.state for part in parts] or [tasks.of_entries([each]).state for each in entries]
    counts = {"running": "active", "succeeded": "complete", "failed": "failed"}
    return {"total": total, **{name: states.count(state) for name, state in counts.items()}}  # type: ignore[arg-type]


def _warmed(task: str, seen: Observed) -> list[Condition]:
    """Return the conditions about the warmup, or about the one that follows a sync; empty if there is none."""
    warmup = tasks.run_of("warmup", seen)
    fit = tasks.cache_fit_of(tasks.attempts(seen.resource.status, "warmup"), [job.name for job in warmup.jobs], ())
    if task != "sync" or not warmup.jobs:
        return [fit] if task == "warmup" else []
    return [tasks.condition_of("Warmed", warmup), fit]


RULES = Rules(
    status,
    frozenset("phase jobName counts startTime completionTime conditions observedGeneration".split()),
    {"type": None, "schedule": None, "sampleSetRef": ("name",)},
)
