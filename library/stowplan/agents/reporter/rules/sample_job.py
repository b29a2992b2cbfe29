"""Status of a SampleJob, without the entries about attempts, which its task agents write."""

from collections.abc import Sequence

from stowplan.agents.reporter import causes
from stowplan.agents.reporter.observed import Observed, ObservedRun, earliest, present_run
from stowplan.agents.reporter.outcome import ABSENT, RunOutcome, explained, of_job, together
from stowplan.agents.reporter.rules import tasks
from stowplan.agents.reporter.rules.conditions import Draft, Status, last_cause, of_work, settled
from stowplan.agents.reporter.rules.tasks import Entry

FIELDS = frozenset("phase jobName counts startTime completionTime conditions observedGeneration".split())

_PARTITIONED = ("warmup", "clear")


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
    run = present_run(seen)
    task = str(seen.resource.spec.get("type") or "")
    entries = tasks.attempts(seen.resource.status, task)
    elsewhere = not run.is_there and task == "sync" and bool(entries)
    if tasks.is_kept(seen) and not elsewhere:
        return None
    if not run.is_there and not elsewhere and seen.resource.spec.get("schedule"):
        return {"observedGeneration": seen.resource.generation}
    parts = [of_job(job) for job in run.jobs]
    total = max(len(parts), _expected(seen, task))
    found = tasks.of_entries(entries) if elsewhere else _together(parts, total)
    name = run.jobs[0].name if run.jobs else entries[0].get("run") if elsewhere else None
    before = seen.resource.status if seen.resource.status.get("jobName") == name else {}
    cause = causes.of_work(run.pods, run.jobs)
    if found.state == "failed":
        cause = last_cause(cause or tasks.told(entries, [job.name for job in run.jobs]), before)
    found = explained(found, cause)
    begun = elsewhere or tasks.has_begun(run.pods) or before.get("phase") == "Running"
    fields: Status = {
        "phase": tasks.phase(found, begun=begun),
        "jobName": name,
        "counts": _counts(parts, entries if elsewhere else (), total),
        "startTime": _started(run, entries if elsewhere else ()),
        "completionTime": found.at or None if found.is_over else None,
        "conditions": settled([*of_work(found, cause), *_warmed(task, entries, run)], seen),
        "observedGeneration": seen.resource.generation,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _expected(seen: Observed, task: str) -> int:
    return (seen.partitions or 1) if task in _PARTITIONED else 1


def _together(parts: Sequence[RunOutcome], total: int) -> RunOutcome:
    """Return the outcome of the whole task from the outcomes `parts` of the Jobs, one for each partition.

    `total` is the number of partitions. A partition without a Job counts as absent.
    """
    missing = [ABSENT] * (total - len(parts))
    return together([*parts, *missing])


def _counts(parts: Sequence[RunOutcome], entries: Sequence[Entry], total: int) -> Status:
    states = [part.state for part in parts] or [tasks.of_entries([each]).state for each in entries]
    counts = {"running": "active", "succeeded": "complete", "failed": "failed"}
    return {"total": total, **{name: states.count(state) for name, state in counts.items()}}  # type: ignore[arg-type]


def _warmed(task: str, entries: Sequence[Entry], run: ObservedRun) -> list[Draft]:
    return [tasks.cache_fit_of(entries, [job.name for job in run.jobs])] if task == "warmup" else []


def _started(run: ObservedRun, entries: Sequence[Entry]) -> str | None:
    times = [job.started for job in run.jobs] + [str(each.get("startedAt") or "") for each in entries]
    return earliest(times) or None
