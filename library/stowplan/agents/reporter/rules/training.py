"""Status of a Training.

The phase is that of the pod that is furthest behind:

- `Pending`: a pod is missing, has no node or waits for an image or a volume; or a queue such as Kueue holds the job.
- `Waiting`: nothing was started, since the job waits for a dataset; or all pods have their nodes, and an init container
  of one waits for a dataset, for the other pods, or for another run that has the lineage of the checkpoints.
- `Starting`: all pods have begun, and one of them is not ready.
- `Running`: all pods are ready or done.
- `Restarting`: as the first three, but all pods ran before, or the JobSet has begun anew.

A pod that failed and is not replaced leaves the phase as it is, until the Job tells whether the job has failed. While
outputs are copied after the run, the phase stays `Running`; the job succeeds or fails with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stowplan.agents.reporter import causes, outcome
from stowplan.agents.reporter.objects.observed import Observed, latest
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.objects.workloads import Job
from stowplan.agents.reporter.outcome import RunOutcome
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.training_group import Training, pod_state, reason_of, training
from stowplan.schema.kinds.native.training import ROLE
from stowplan.schema.kinds.native.training_status import OutputPhase
from stowplan.schema.wording import counted

Phase = Literal["Pending", "Waiting", "Starting", "Running", "Restarting", "Succeeded", "Failed", "Suspended"]


_COPYING, _COPY_FAILED = "CopyingOutputs", "OutputFailed"
"""Reasons of the whole: an output is being copied, or could not be."""


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    if is_final(seen):
        return None
    spec = seen.resource.spec
    found = training(_without_copies(seen), (ROLE,), walltime=spec.get("activeDeadlineSeconds"))
    given: Sequence[dict[str, Any]] = spec.get("outputs") or ()
    outputs = [_output(each, index, seen, found.outcome) for index, each in enumerate(given)]
    found = replace(found, outcome=_whole(found.outcome, outputs))
    nodes = sum(role.wanted for role in found.roles.values()) or int(spec.get("numNodes") or 1)
    ready = min(nodes, _ready(found))
    restarts = sum(each.restarts for each in found.run.job_sets) if found.run.job_sets else None
    charged = sum(each.counted for each in found.run.job_sets) if found.run.job_sets else None
    phase = _phase(found, nodes, ready, restarts or 0, suspended=bool(spec.get("suspend")))
    return {
        "phase": phase,
        "run": found.run.name or None,
        "nodes": nodes,
        "readyNodes": ready,
        "nodesReady": f"{ready}/{nodes}",
        "restarts": restarts,
        "countedRestarts": charged,
        "startTime": found.start(runs=phase == "Running"),
        "completionTime": found.outcome.at or None if found.outcome.is_over else None,
        "message": _message(found, phase, restarts or 0) or None,
        "outputs": [each.fields() for each in outputs] or None,
        "conditions": settled(of_work(found.outcome, found.cause), seen),
    }


def _living(found: Training) -> list[Pod]:
    """Return the pods that are not over. Those that are being deleted belong to an earlier attempt, or end soon."""
    pods = [pod for role in found.roles.values() for pod in role.pods]
    return [pod for pod in pods if not (pod.is_over or pod.deleting)]


def _ready(found: Training) -> int:
    """Return the number of pods that are ready or done. The pods of a finished Job may be gone."""
    done = sum(role.counts["succeeded"] for role in found.roles.values())
    return done + sum(pod_state(pod) == "running" for pod in _living(found))


def _phase(found: Training, nodes: int, ready: int, restarts: int, *, suspended: bool) -> Phase:
    if found.outcome.state == "complete":
        return "Succeeded"
    if found.outcome.state == "failed":
        return "Failed"
    if found.outcome.state == "suspended":
        return "Suspended" if suspended else "Waiting" if found.waits else "Pending"
    if found.run.is_there and ready >= nodes:
        return "Running"
    before = found.before.get("phase")
    behind = _furthest_behind(found, nodes)
    if not (found.before.get("startTime") or restarts):
        return behind or ("Starting" if before == "Starting" else "Waiting" if before == "Waiting" else "Pending")
    renewed = restarts > int(found.before.get("restarts") or 0) or before != "Running"
    return "Restarting" if renewed or behind else "Running"


def _furthest_behind(found: Training, nodes: int) -> Literal["Pending", "Waiting", "Starting"] | None:
    """Return the phase of the pod that is furthest behind; None if no pod is behind, or if all of these have failed."""
    living = _living(found)
    steps = {_step(pod) for pod in living}
    done = sum(role.counts["succeeded"] + role.counts["failed"] for role in found.roles.values())
    if "Pending" in steps or len(living) + done < nodes:
        return "Pending"
    if "Waiting" in steps:
        return "Waiting"
    return "Starting" if "Starting" in steps else None


def _step(pod: Pod) -> str:
    if pod.awaits or pod.awaits_peers or pod.awaits_lineage:
        return "Waiting"
    return {"pending": "Pending", "starting": "Starting"}.get(pod_state(pod), "Running")


def _message(found: Training, phase: Phase, restarts: int) -> str:
    if phase == "Succeeded":
        return ""
    if phase == "Failed" and restarts:
        return f"{reason_of(found)}, after {counted(restarts, 'restart')}"
    if phase == "Restarting" and restarts:
        return reason_of(found) or f"The whole job starts again after a failure: {counted(restarts, 'restart')} so far"
    if phase == "Pending" and found.outcome.state == "suspended":
        preempted = "with a job that it preempts, or that ran too long"
        why = preempted if found.before.get("startTime") else "until it is the job's turn"
        return f"Suspended, but not by `suspend`: Kueue does so {why}"
    if found.outcome.reason == _COPYING:
        return found.outcome.message
    return reason_of(found)


@dataclass(frozen=True, slots=True)
class _Output:
    """One output: its path, its phase, and why it is in that phase, for people. `at` is when it ended (RFC 3339)."""

    path: str
    phase: OutputPhase
    message: str = ""
    at: str = ""

    def fields(self) -> dict[str, Any]:
        """Return the entry of the status."""
        return {"path": self.path, "phase": self.phase, **({"message": self.message} if self.message else {})}


def _without_copies(seen: Observed) -> Observed:
    """Return what was observed of the run itself: without the Jobs and pods that copy outputs."""
    names = {job.name for job in seen.jobs if job.output is not None}
    jobs = [job for job in seen.jobs if job.output is None]
    return replace(seen, jobs=jobs, pods=[pod for pod in seen.pods if pod.job not in names])


def _whole(run: RunOutcome, outputs: Sequence[_Output]) -> RunOutcome:
    """Return the outcome of a run with its outputs: it is complete once all of them are copied.

    A run that failed has failed, whatever is copied after it.
    """
    if run.state != "complete":
        return run
    if failed := next((each for each in outputs if each.phase == "Failed"), None):
        return RunOutcome("failed", _COPY_FAILED, f"{failed.path} was not copied: {failed.message}", failed.at)
    if missing := [each.path for each in outputs if each.phase not in ("Succeeded", "Skipped")]:
        return RunOutcome("active", _COPYING, f"The run is complete; {' and '.join(missing)} is being copied")
    return replace(run, at=latest([run.at, *(each.at for each in outputs)]))


def _output(given: dict[str, Any], index: int, seen: Observed, run: RunOutcome) -> _Output:
    """Return the output with this index in the spec. `run` is the outcome of the run that it waits for."""
    path = str(given.get("path") or "")
    if run.state == "failed" and given.get("when", "success") == "success":
        return _Output(path, "Skipped", "The run failed, and this output is for success")
    if not run.is_over:
        return _Output(path, "Waiting")
    jobs = [job for job in seen.jobs if job.output == index]
    if not jobs:
        return _Output(path, "Pending", "There is no Job yet")
    return _copied(path, max(jobs, key=lambda job: (job.created, job.name)), seen)


def _copied(path: str, job: Job, seen: Observed) -> _Output:
    """Return an output whose run is over, by its Job."""
    found = outcome.of_job(job)
    cause = causes.of_work([pod for pod in seen.pods if pod.job == job.name], [job])
    if found.state == "complete":
        return _Output(path, "Succeeded", at=found.at)
    if found.state == "failed":
        return _Output(path, "Failed", outcome.explained(found, cause).message, found.at)
    return _Output(path, "Running", cause.message if cause else "")


RULES = Rules(
    status,
    frozenset(
        "phase run nodes readyNodes nodesReady restarts countedRestarts startTime completionTime message outputs "
        "conditions observedGeneration".split()
    ),
    {
        "numNodes": None,
        "suspend": None,
        "activeDeadlineSeconds": None,
        "outputs": ("path", "when"),
    },
)
