"""Common parts of the three kinds of training jobs: the roles of a run, and its outcome."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stowplan.agents.reporter import causes, outcome
from stowplan.agents.reporter.causes import Cause
from stowplan.agents.reporter.objects.observed import Observed, ObservedRun, latest, present_run
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.objects.workloads import GATE, Job, JobSet
from stowplan.agents.reporter.outcome import RunOutcome
from stowplan.agents.reporter.rules.conditions import is_over, last_cause
from stowplan.schema.kinds.table import DATASET_KINDS

PodState = Literal["pending", "starting", "running", "succeeded", "failed", "unknown"]
POD_STATES: tuple[PodState, ...] = ("pending", "starting", "running", "succeeded", "failed", "unknown")


@dataclass(frozen=True, slots=True)
class Role:
    """The pods of one role in one run."""

    name: str
    wanted: int
    """Number of pods that should run now."""
    pods: Sequence[Pod]
    counts: Mapping[PodState, int]
    """Number of pods in each state."""
    state: Literal["starting", "running", "succeeded", "failed"]

    @property
    def present(self) -> int:
        """Return the number of pods that run or have succeeded."""
        return self.counts["running"] + self.counts["succeeded"]

    @property
    def is_complete(self) -> bool:
        return self.wanted > 0 and self.present >= self.wanted


@dataclass(frozen=True, slots=True)
class Training:
    """What is known about the present run of a training job."""

    run: ObservedRun
    outcome: RunOutcome
    cause: Cause | None
    roles: Mapping[str, Role]
    before: Mapping[str, Any]
    """Last reported status of this run; empty if the last report was about another run."""
    waits: bool = False
    """Whether the run is closed: it waits for datasets or other specs, and nothing of it was started."""

    @property
    def all_run(self) -> bool:
        """Return whether every wanted pod runs or has succeeded."""
        return bool(self.roles) and all(role.is_complete for role in self.roles.values())

    def start(self, *, runs: bool) -> str | None:
        """Return the start time for the status (RFC 3339): the reported one, or else that of the pods or Jobs.

        `runs` is whether the job runs now. None if it has not run yet, or if no object says when it began.
        """
        return str(self.before.get("startTime") or (self.ran_at if runs else self.began_at)) or None

    @property
    def ran_at(self) -> str:
        """Return the time at which the last of the running pods became ready (RFC 3339); empty if no pod runs."""
        pods = [pod for role in self.roles.values() for pod in role.pods]
        return latest(pod.conditions["Ready"].at for pod in pods if pod.is_running and "Ready" in pod.conditions)

    @property
    def began_at(self) -> str:
        """Return the start time of the last Job if the run is complete (RFC 3339); otherwise empty.

        It is the start time of a run so short that the reporter never saw its pods run.
        """
        return latest(job.started for job in self.run.jobs) if self.outcome.state == "complete" else ""


def training(
    seen: Observed, deciders: Collection[str], *, enough: Collection[str] = (), walltime: int | None = None
) -> Training:
    """Return what is known about the present run: its outcome, the cause of a problem, and its roles.

    `deciders` are the names of the roles whose Jobs must all succeed. If `enough` names roles, the run is complete once
    the Jobs of these are complete, whatever the others do. `walltime` is the deadline in seconds that the user has set;
    None for no deadline. Jobs and pods of gates in `seen` do not count.
    """
    run = present_run(_without_gates(seen))
    status = seen.resource.status
    before = status if status.get("run") == run.name else {}
    found = outcome.of_run(run, deciders, enough)
    if is_over(before) and found.state in ("active", "suspended"):
        # The Jobs were deleted and created again with the same names.
        before = {}
    cause = causes.of_work(run.pods, [*run.jobs, *run.job_sets])
    if found.state == "failed":
        cause = last_cause(cause, before)
    judged = outcome.explained(outcome.lost_helper(run, found, walltime), cause)
    waits = found.state == "suspended" and bool(_gate(run))
    return Training(run, _waiting(seen, run) if waits else judged, cause, _roles(run), before, waits)


def _without_gates(seen: Observed) -> Observed:
    """Return `seen` without the Jobs and pods of gates, which have no part in the training."""
    return replace(
        seen,
        jobs=[each for each in seen.jobs if each.role != GATE],
        pods=[each for each in seen.pods if each.role != GATE],
    )


def _gate(run: ObservedRun) -> str:
    """Return what a closed run waits for, for people; empty if the run is not closed."""
    own: list[Job | JobSet] = [*run.jobs, *run.job_sets]
    return next((each.gate for each in own if each.gate), "")


def _waiting(seen: Observed, run: ObservedRun) -> RunOutcome:
    """Return the outcome of a closed run: failed if its gate has given up, else suspended, and what it waits for."""
    names = _gate(run)
    kinds = {each.strip().partition(" ")[0] for each in names.split(",")}
    reason = causes.DATASET if kinds <= DATASET_KINDS else causes.SPEC
    gates: list[Job] = [each for each in seen.jobs if each.role == GATE and each.run == run.name]
    text = ". ".join([f"Waiting for {names}", *seen.failures])
    for gate in gates:
        if failed := gate.conditions.get("Failed"):
            why = f"{names} was not ready in time" if failed.reason == causes.DEADLINE else failed.message
            return RunOutcome("failed", reason, ". ".join([why, *seen.failures]), failed.at)
    own = [each.name for each in gates]
    cause = causes.of_work([pod for pod in seen.pods if pod.job in own], gates)
    return RunOutcome("suspended", reason, f"{text}. Its gate: {cause.message}" if cause else text)


def pod_state(pod: Pod) -> PodState:
    """Return the state of a pod; the definitions are those of the old PaddlePaddle operator.

    A pod whose phase is Succeeded or Failed is `succeeded` or `failed`. One whose phase is Unknown, or whose node is
    lost, is `unknown`. One whose phase is Running is `running` if all its containers are ready, else `starting`. All
    others are `pending`.
    """
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
    """Return why the training job ended, is suspended or does not progress, as a message; empty if nothing is wrong."""
    if found.outcome.is_over or found.outcome.state == "suspended":
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
    # The pods of a finished Job may be gone.
    counts["succeeded"] = max(counts["succeeded"], sum(job.succeeded for job in jobs))
    ended = [outcome.of_job(job) for job in jobs]
    is_done = all(each.state == "complete" for each in ended) if ended else counts["succeeded"] >= wanted
    if is_done or any(each.state == "failed" for each in ended):
        return Role(name, wanted, pods, counts, "succeeded" if is_done else "failed")
    present = counts["running"] + counts["succeeded"]
    return Role(name, wanted, pods, counts, "running" if wanted and present >= wanted else "starting")
