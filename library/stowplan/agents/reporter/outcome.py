"""Outcome of Jobs and JobSets, each alone and all of a run together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from stowplan.agents.reporter.causes import DEADLINE, Cause
from stowplan.agents.reporter.observed import ObservedRun, latest
from stowplan.agents.reporter.workloads import Job, JobSet, Mark
from stowplan.schema.agents.await_config import END_AT_ONCE

State = Literal["absent", "suspended", "active", "complete", "failed"]

HELPER_LOST = "HelperLost"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """State of a run, with reason and message of its Jobs. `at` is the time of this state, or empty if unknown."""

    state: State
    reason: str = ""
    message: str = ""
    at: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("complete", "failed")


ABSENT = RunOutcome("absent", "NotStarted", "There is no Job yet")


def of_job(job: Job) -> RunOutcome:
    """Return the outcome of one Job."""
    if failed := job.conditions.get("Failed") or job.conditions.get("FailureTarget"):
        return _failed(failed, job.name)
    if complete := job.conditions.get("Complete"):
        return RunOutcome("complete", "Succeeded", f"Job {job.name} is complete", job.completed or complete.at)
    if job.suspended:
        suspended = job.conditions.get("Suspended")
        return RunOutcome("suspended", "Suspended", f"Job {job.name} is suspended", suspended.at if suspended else "")
    return RunOutcome("active", "Running", f"Job {job.name} is under way", job.started)


def of_job_set(found: JobSet) -> RunOutcome:
    """Return the outcome of one JobSet."""
    if failed := found.conditions.get("Failed"):
        return _failed(failed, found.name)
    if done := found.conditions.get("Completed"):
        return RunOutcome("complete", "Succeeded", f"JobSet {found.name} is complete", done.at)
    if suspended := found.conditions.get("Suspended"):
        return RunOutcome("suspended", "Suspended", f"JobSet {found.name} is suspended", suspended.at)
    return RunOutcome("active", "Running", f"JobSet {found.name} is under way", found.created)


def of_run(run: ObservedRun, deciders: Collection[str], enough: Collection[str] = ()) -> RunOutcome:
    """Return the outcome of a training job. `deciders` are the roles that must succeed.

    If all roles in `enough` are complete, the others are ignored (the old MXNet operator looked at the scheduler
    alone). A JobSet has equivalent policies, so its own outcome counts.
    """
    own = [job for job in run.jobs if job.role in deciders and not job.owner]
    if not own:
        return of_job_set(run.job_sets[0]) if run.job_sets else ABSENT
    by_role = {job.role: of_job(job) for job in own}
    if enough and all(by_role.get(role, ABSENT).state == "complete" for role in enough):
        return _complete([by_role[role] for role in enough])
    return together([by_role.get(role, ABSENT) for role in deciders])


def together(parts: Sequence[RunOutcome]) -> RunOutcome:
    """Combine outcomes: failed if one part failed, complete if all parts are.

    Of several failures a deadline comes last, since await may have ended a part by a deadline.
    """
    if failures := [part for part in parts if part.state == "failed"]:
        return min(failures, key=lambda part: part.reason == DEADLINE)
    for state in ("active", "suspended"):
        if found := [part for part in parts if part.state == state]:
            return found[0]
    if any(part.state == "absent" for part in parts) or not parts:
        return ABSENT if all(part.state == "absent" for part in parts) else RunOutcome("active", "Running", "")
    return _complete(parts)


def explained(outcome: RunOutcome, cause: Cause | None) -> RunOutcome:
    """Return the outcome, with the pods' cause of a failure: it is more exact than the Job's reason.

    After a deadline the Job's reason remains, since the deadline ended the pods.
    """
    if outcome.state != "failed" or outcome.reason in (DEADLINE, HELPER_LOST) or cause is None:
        return outcome
    return RunOutcome("failed", cause.reason, cause.message, outcome.at)


def lost_helper(run: ObservedRun, outcome: RunOutcome, walltime: int | None) -> RunOutcome:
    """Return the outcome, as `HELPER_LOST` if an await agent ended the group because its helper did not listen.

    The agent ends a Job by a deadline of one second. A user's own `walltime` of one second is no lost helper.
    """
    late = [job for job in run.jobs if of_job(job).reason == DEADLINE]
    patched = bool(late) and all(job.deadline == END_AT_ONCE for job in late)
    if outcome.reason != DEADLINE or not patched or walltime == END_AT_ONCE:
        return outcome
    return RunOutcome("failed", HELPER_LOST, "A helper did not listen for too long, so the job was ended", outcome.at)


def _complete(parts: Sequence[RunOutcome]) -> RunOutcome:
    message = parts[0].message if len(parts) == 1 else f"All {len(parts)} Jobs are complete"
    return RunOutcome("complete", "Succeeded", message, latest(part.at for part in parts))


def _failed(mark: Mark, name: str) -> RunOutcome:
    return RunOutcome("failed", mark.reason or "Failed", f"{name}: {mark.message or mark.reason}", mark.at)
