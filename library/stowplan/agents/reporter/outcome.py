"""Outcome of single Jobs and JobSets, and of a whole run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stowplan.agents.reporter.causes import DEADLINE, Cause
from stowplan.agents.reporter.objects.observed import ObservedRun, latest
from stowplan.agents.reporter.objects.workloads import Job, JobSet, Sign
from stowplan.schema.agents.await_config import END_AT_ONCE

State = Literal["absent", "suspended", "active", "complete", "failed"]

HELPER_LOST = "HelperLost"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Outcome of a Job, a JobSet or a whole run: its present state, and why it is in that state."""

    state: State
    """`absent` means that there is no Job yet."""
    reason: str = ""
    """One word in CamelCase, used as the reason of a condition."""
    message: str = ""
    at: str = ""
    """Time at which this state began (RFC 3339); empty if unknown."""

    @property
    def is_over(self) -> bool:
        return self.state in ("complete", "failed")


ABSENT = RunOutcome("absent", "NotStarted", "There is no Job yet")


def of_job(job: Job) -> RunOutcome:
    """Return the outcome of one Job: failed, complete, suspended or active, never absent."""
    if failed := job.conditions.get("Failed") or job.conditions.get("FailureTarget"):
        return _failed(failed, job.name)
    if complete := job.conditions.get("Complete"):
        return RunOutcome("complete", "Succeeded", f"Job {job.name} is complete", job.completed or complete.at)
    if job.suspended:
        suspended = job.conditions.get("Suspended")
        return RunOutcome("suspended", "Suspended", f"Job {job.name} is suspended", suspended.at if suspended else "")
    return RunOutcome("active", "Running", f"Job {job.name} is under way", job.started)


def of_job_set(found: JobSet) -> RunOutcome:
    """Return the outcome of one JobSet: failed, complete, suspended or active, never absent."""
    if failed := found.conditions.get("Failed"):
        return _failed(failed, found.name)
    if done := found.conditions.get("Completed"):
        return RunOutcome("complete", "Succeeded", f"JobSet {found.name} is complete", done.at)
    if suspended := found.conditions.get("Suspended"):
        return RunOutcome("suspended", "Suspended", f"JobSet {found.name} is suspended", suspended.at)
    return RunOutcome("active", "Running", f"JobSet {found.name} is under way", found.created)


def of_run(run: ObservedRun, deciders: Collection[str], enough: Collection[str] = ()) -> RunOutcome:
    """Return the outcome of a run of a training job.

    `deciders` are the roles whose Jobs must all succeed. If `enough` names roles and the Jobs of these are complete,
    the run is complete whatever the other roles do (the old MXNet operator looked at the scheduler alone). For a run
    with a JobSet the outcome of the JobSet is returned, since the JobSet has policies with the same effect.
    """
    own = [job for job in run.jobs if job.role in deciders and not job.owner]
    if not own:
        return _of_set(run) if run.job_sets else ABSENT
    by_role = {job.role: of_job(job) for job in own}
    if enough and all(by_role.get(role, ABSENT).state == "complete" for role in enough):
        return _complete([by_role[role] for role in enough])
    return together([by_role.get(role, ABSENT) for role in deciders])


def _of_set(run: ObservedRun) -> RunOutcome:
    """Return the outcome of the run's JobSet. Of a deadline only its Job tells, not the JobSet."""
    whole = of_job_set(run.job_sets[0])
    late = [each for each in map(of_job, run.jobs) if each.reason == DEADLINE]
    return replace(late[0], at=whole.at) if whole.state == "failed" and late else whole


def together(parts: Sequence[RunOutcome]) -> RunOutcome:
    """Return the outcome of a whole: failed if one part has failed, complete if all parts are complete.

    Otherwise it is active, suspended or absent. Of several failures, one that is no deadline is returned if possible,
    since the await agent ends the other Jobs of a failed group by a deadline.
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
    """Return a failed outcome with reason and message of `cause`, which are more exact than those of the Job.

    Return the outcome unchanged if it is no failure, if `cause` is None, or after a deadline or a lost helper, since
    then the pods were ended on purpose.
    """
    if outcome.state != "failed" or outcome.reason in (DEADLINE, HELPER_LOST) or cause is None:
        return outcome
    return RunOutcome("failed", cause.reason, cause.message, outcome.at)


def lost_helper(run: ObservedRun, outcome: RunOutcome, walltime: int | None) -> RunOutcome:
    """Return the outcome with the reason `HELPER_LOST` if await ended the group because a helper was lost.

    Otherwise return the outcome unchanged. The await agent ends a Job by setting its deadline to one second, and notes
    why. `walltime` is the deadline in seconds that the user has set, or None. If the user has set one second, the
    deadline says nothing about helpers, and the outcome stays unchanged.
    """
    late = [job for job in run.jobs if of_job(job).reason == DEADLINE]
    patched = bool(late) and all(job.deadline == END_AT_ONCE for job in late)
    if outcome.reason != DEADLINE or not patched or walltime == END_AT_ONCE:
        return outcome
    why = next((f": {job.ended_because}" for job in late if job.ended_because), "")
    return RunOutcome("failed", HELPER_LOST, f"A helper was lost, so the job was ended{why}", outcome.at)


def _complete(parts: Sequence[RunOutcome]) -> RunOutcome:
    message = parts[0].message if len(parts) == 1 else f"All {len(parts)} Jobs are complete"
    return RunOutcome("complete", "Succeeded", message, latest(part.at for part in parts))


def _failed(mark: Sign, name: str) -> RunOutcome:
    return RunOutcome("failed", mark.reason or "Failed", f"{name}: {mark.message or mark.reason}", mark.at)
