"""What the three kinds of training jobs have in common: the roles of a run, and where it stands."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stowplan.agents.reporter import causes, outcome
from stowplan.agents.reporter.causes import Cause
from stowplan.agents.reporter.observed import Observed, ObservedRun, latest, present_run
from stowplan.agents.reporter.outcome import RunOutcome
from stowplan.agents.reporter.pods import Pod
from stowplan.agents.reporter.rules.conditions import is_over, last_cause

PodState = Literal["pending", "starting", "running", "succeeded", "failed", "unknown"]
POD_STATES: tuple[PodState, ...] = ("pending", "starting", "running", "succeeded", "failed", "unknown")


@dataclass(frozen=True, slots=True)
class Role:
    """The pods of one role. `wanted` is how many should run at present."""

    name: str
    wanted: int
    pods: Sequence[Pod]
    counts: Mapping[PodState, int]
    state: Literal["starting", "running", "succeeded", "failed"]

    @property
    def present(self) -> int:
        """Pods that run, or are done."""
        return self.counts["running"] + self.counts["succeeded"]

    @property
    def is_complete(self) -> bool:
        return self.wanted > 0 and self.present >= self.wanted


@dataclass(frozen=True, slots=True)
class Training:
    """One run of a training job."""

    run: ObservedRun
    outcome: RunOutcome
    cause: Cause | None
    roles: Mapping[str, Role]
    before: Mapping[str, Any]
    """What was reported of this very run; empty where that was another one."""

    @property
    def all_run(self) -> bool:
        """Whether every wanted pod runs or is done."""
        return bool(self.roles) and all(role.is_complete for role in self.roles.values())

    @property
    def ran_at(self) -> str:
        """When the last of the running pods became ready."""
        pods = [pod for role in self.roles.values() for pod in role.pods]
        return latest(pod.conditions["Ready"].at for pod in pods if pod.is_running and "Ready" in pod.conditions)

    @property
    def began_at(self) -> str:
        """Of a job that was done before anyone saw it run: when its Jobs began."""
        return latest(job.started for job in self.run.jobs) if self.outcome.state == "complete" else ""


def training(
    seen: Observed, deciders: Collection[str], *, enough: Collection[str] = (), walltime: int | None = None
) -> Training:
    """Where the present run stands; `enough` is as in `outcome.of_run`."""
    run = present_run(seen)
    status = seen.resource.status
    before = status if status.get("run") == run.name else {}
    found = outcome.of_run(run, deciders, enough)
    if is_over(before) and found.state in ("active", "suspended"):
        # Its Jobs were made again under the same names.
        before = {}
    cause = causes.of_pods(run.pods)
    if found.state == "failed":
        cause = last_cause(cause, before)
    judged = outcome.explained(outcome.lost_helper(run, found, walltime), cause)
    return Training(run, judged, cause, _roles(run), before)


def is_kept(seen: Observed) -> bool:
    """Whether the job has ended and its Jobs were removed since: then the report stays as it is."""
    status = seen.resource.status
    there = seen.jobs or seen.job_sets
    return not there and is_over(status) and status.get("observedGeneration") == seen.resource.generation


def pod_state(pod: Pod) -> PodState:
    """As the old Paddle operator counted them."""
    if pod.phase == "Succeeded":
        return "succeeded"
    if pod.phase == "Failed":
        return "failed"
    cause = causes.of_pod(pod)
    if pod.phase == "Unknown" or (cause and cause.reason == causes.NODE_LOST):
        return "unknown"
    if pod.phase == "Running":
        return "running" if pod.complete else "starting"
    return "pending"


def reason_of(found: Training) -> str:
    """A sentence on what keeps the job from its end, or ended it; empty where nothing does."""
    if found.outcome.is_over:
        return found.outcome.message
    if found.outcome.state == "suspended":
        return found.outcome.message
    return found.cause.message if found.cause else ""


def _roles(run: ObservedRun) -> dict[str, Role]:
    wanted: dict[str, int] = {}
    for job_set in run.job_sets:
        wanted |= job_set.sizes
    for job in run.jobs:
        wanted[job.role] = job.parallelism
    return {name: _role(name, size, run) for name, size in wanted.items() if name}


def _role(name: str, wanted: int, run: ObservedRun) -> Role:
    pods = [pod for pod in run.pods if pod.role == name]
    jobs = [job for job in run.jobs if job.role == name]
    counts = dict.fromkeys(POD_STATES, 0)
    for pod in pods:
        counts[pod_state(pod)] += 1
    # The pods of a Job that is done may be gone.
    counts["succeeded"] = max(counts["succeeded"], sum(job.succeeded for job in jobs))
    ended = [outcome.of_job(job) for job in jobs]
    if ended and all(each.state == "complete" for each in ended):
        return Role(name, wanted, pods, counts, "succeeded")
    if any(each.state == "failed" for each in ended):
        return Role(name, wanted, pods, counts, "failed")
    present = counts["running"] + counts["succeeded"]
    if not jobs and present >= wanted and counts["succeeded"] >= wanted:
        return Role(name, wanted, pods, counts, "succeeded")
    return Role(name, wanted, pods, counts, "running" if wanted and present >= wanted else "starting")
