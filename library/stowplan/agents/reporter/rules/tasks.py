"""Common parts of the kinds that move data (DataCube, SampleJob, SampleSet).

Their Jobs run task agents, and each agent reports on its attempt in the status.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stowplan.agents.reporter import causes
from stowplan.agents.reporter.causes import Cause
from stowplan.agents.reporter.objects.observed import Observed, ObservedRun, present_run
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.outcome import ABSENT, RunOutcome, explained, of_job, together
from stowplan.agents.reporter.rules.conditions import Condition, last_cause
from stowplan.agents.runtime import cache_fit
from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL
from stowplan.schema.agents.exit_codes import PERMANENT

Entry = Mapping[str, Any]

_UNDER_WAY = ("", "Running", "running", "waiting")
"""Reasons of entries about attempts that go on."""


def run_of(task: str, seen: Observed) -> ObservedRun:
    """Return the newest run of one task of several, such as a warmup after a sync: each task has Jobs of its own."""
    jobs = [each for each in seen.jobs if each.role == task]
    return present_run(replace(seen, jobs=jobs, pods=[each for each in seen.pods if each.role == task]))


def condition_of(kind: str, run: ObservedRun) -> Condition:
    """Return the condition of type `kind` that says whether the Jobs of a run are complete, or why not."""
    cause = causes.of_work(run.pods, run.jobs)
    found = explained(together([of_job(job) for job in run.jobs]), cause)
    why = cause if cause and not found.is_over else found
    return Condition(kind, found.state == "complete", why.reason, why.message, found.at)


def judged(
    found: RunOutcome, run: ObservedRun, entries: Iterable[Entry], before: Mapping[str, Any]
) -> tuple[RunOutcome, Cause | None]:
    """Return the outcome of a run with its cause in place of what the Jobs say, and the cause; None for none.

    When the pods are gone, the agents' `entries`, or else the present status `before`, tell the cause of a failure.
    """
    cause = causes.of_work(run.pods, run.jobs)
    if found.state == "failed":
        cause = last_cause(cause or reported_cause(entries, [job.name for job in run.jobs]), before)
    return explained(found, cause), cause


def attempts(status: Mapping[str, Any], task: str) -> list[Entry]:
    """Return the entries in `status.attempts` that agents wrote about a task, such as `sync`, sorted by partition."""
    found = [each for each in status.get("attempts") or () if each.get("task") == task]
    return sorted(found, key=lambda each: int(each.get("partition", 0)))


def of_entries(entries: Sequence[Entry]) -> RunOutcome:
    """Return the outcome of a task from its agents' entries alone, for a task whose Jobs are in another namespace.

    A failure that a retry may cure does not count as failed, since only the Job knows the number of retries.
    """
    if not entries:
        return ABSENT
    for each in entries:
        if each.get("state") == "failed" and each.get("exitCode") in PERMANENT:
            message = str(each.get("message") or "")
            return RunOutcome("failed", str(each.get("reason") or "Failed"), message, str(each.get("updatedAt") or ""))
    if all(each.get("state") == "succeeded" for each in entries):
        at = max(str(each.get("updatedAt") or "") for each in entries)
        return RunOutcome("complete", "Succeeded", str(entries[0].get("message") or ""), at)
    return RunOutcome("active", "Running", str(entries[0].get("message") or ""))


def reported_cause(entries: Iterable[Entry], runs: Iterable[str]) -> Cause | None:
    """Return the cause of the first failure in `entries` about one of the Jobs `runs`; None if there is none.

    `entries` are reports of agents on their attempts, which remain after the pods are gone. `runs` are names of Jobs.
    """
    names = set(runs)
    for each in entries:
        failed = "failed" in (each.get("state"), each.get("result"))
        if failed and each.get("run") in names:
            code = f" (exit code {each['exitCode']})" if each.get("exitCode") is not None else ""
            message = f"pod {each.get('pod')}: {each.get('message') or 'failed'}{code}"
            return Cause(str(each.get("reason") or "Failed"), message, 8)
    return None


def reported_trouble(entries: Iterable[Entry], runs: Iterable[str]) -> Cause | None:
    """Return what keeps the first attempt from going on that says so and has not ended; None if none says so.

    Only entries about one of the Jobs `runs`, by name, are considered.
    """
    names = set(runs)
    for each in entries:
        reason = str(each.get("reason") or "")
        if each.get("state") == "running" and each.get("run") in names and reason not in _UNDER_WAY:
            return Cause(reason, f"pod {each.get('pod')}: {each.get('message') or reason}", 8)
    return None


def cache_fit_of(entries: Iterable[Entry], runs: Iterable[str], partitions: Iterable[Entry]) -> Condition:
    """Return the condition that says whether warmups found caches too small for the dataset.

    `entries` are entries of `status.attempts`. Only those about one of the Jobs `runs`, by name, are considered.
    `partitions` are entries of `status.partitions`, by which a cache may have become larger since.
    """
    names = set(runs)
    small = cache_fit.too_small((each for each in entries if each.get("run") in names), partitions)
    return Condition(CACHE_TOO_SMALL, bool(small), CACHE_TOO_SMALL if small else cache_fit.FITS, small)


def has_begun(pods: Iterable[Pod]) -> bool:
    """Return whether any of the pods has ever started a main container."""
    return any(pod.begun for pod in pods)


def phase(found: RunOutcome, *, begun: bool) -> str:
    """Return the phase of a DataCube or SampleJob: `Pending`, `Running`, `Succeeded` or `Failed`.

    `begun` is whether any pod has started its container.
    """
    ended = {"complete": "Succeeded", "failed": "Failed"}.get(found.state)
    return ended or ("Running" if begun and found.state == "active" else "Pending")
