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

from dataclasses import replace
from typing import Literal

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.rules import training_outputs
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.training_group import Training, pod_state, reason_of, training
from stowplan.schema.kinds.native.training import ROLE
from stowplan.schema.wording import counted

Phase = Literal["Pending", "Waiting", "Starting", "Running", "Restarting", "Succeeded", "Failed", "Suspended"]


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
    if is_final(seen):
        return None
    spec = seen.resource.spec
    found = training(training_outputs.without(seen), (ROLE,), walltime=spec.get("activeDeadlineSeconds"))
    outputs = training_outputs.of_run(seen, found.outcome)
    found = replace(found, outcome=training_outputs.whole(found.outcome, outputs))
    nodes = sum(role.wanted for role in found.roles.values()) or int(spec.get("numNodes") or 1)
    ready = min(nodes, _ready(found))
    restarts = sum(each.restarts for each in found.run.job_sets) if found.run.job_sets else None
    charged = sum(each.counted for each in found.run.job_sets) if found.run.job_sets else None
    phase = _phase(found, nodes, ready, restarts or 0, suspended=bool(spec.get("suspend")))
    fields: Status = {
        "phase": phase,
        "run": found.run.name or None,
        "nodes": nodes,
        "readyNodes": ready,
        "nodesReady": f"{ready}/{nodes}",
        "restarts": restarts,
        "countedRestarts": charged,
        "startTime": _start(found, phase),
        "completionTime": found.outcome.at or None if found.outcome.is_over else None,
        "message": _message(found, phase, restarts or 0) or None,
        "outputs": [each.fields() for each in outputs] or None,
        "conditions": settled(of_work(found.outcome, found.cause), seen),
        "observedGeneration": seen.resource.generation,
    }
    return {key: value for key, value in fields.items() if value is not None}


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


def _start(found: Training, phase: Phase) -> str | None:
    if before := found.before.get("startTime"):
        return str(before)
    return (found.ran_at if phase == "Running" else found.began_at) or None


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
    if found.outcome.reason == training_outputs.COPYING:
        return found.outcome.message
    return reason_of(found)


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
