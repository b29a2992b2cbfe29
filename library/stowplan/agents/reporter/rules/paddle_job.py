"""Status of a PaddleJob, as the PaddlePaddle operator would write it."""

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.training_group import POD_STATES, Role, Training, training
from stowplan.schema.kinds.paddle_job import ROLES, decider

MOST_REFERENCES = 100
"""Maximum number of pods per role that the status names, since the size of an object is limited."""


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    if is_final(seen):
        return None
    spec = seen.resource.spec
    sizes = {name: int((spec.get(name) or {}).get("replicas") or 0) for name in ROLES}
    found = training(seen, (decider(sizes) or "worker",))
    phase = _phase(found)
    return {
        "phase": phase,
        "mode": "PS" if spec.get("ps") else "Collective" if sizes["worker"] > 1 else "Single",
        "startTime": found.start(runs=phase == "Running"),
        "completionTime": found.outcome.at or None if found.outcome.is_over else None,
        "run": found.run.name or None,
        "conditions": settled(of_work(found.outcome, found.cause), seen),
        **{name: _role(found.roles[name], seen) for name in ROLES if name in found.roles},
    }


def _phase(found: Training) -> str:
    if ended := {"complete": "Completed", "failed": "Failed"}.get(found.outcome.state):
        return ended
    if found.all_run:
        return "Running"
    counts = [role.counts for role in found.roles.values()]
    has_pods = any(role.pods for role in found.roles.values())
    if found.outcome.state != "active" or not has_pods or any(each["pending"] for each in counts):
        return "Pending"
    if any(each["starting"] for each in counts):
        return "Starting"
    return str(found.before.get("phase") or "Pending")


def _role(role: Role, seen: Observed) -> Status:
    """Return the status field of a role: its pods and their counts by state, without counts of 0.

    The count `running` is always there, so the result is never empty. By a server-side apply of an empty object the API
    server would store a null, which the schema refuses.
    """
    status: Status = {state: role.counts[state] for state in POD_STATES if role.counts[state] or state == "running"}
    if role.pods:
        what = {"apiVersion": "v1", "kind": "Pod", "namespace": seen.resource.namespace}
        status["refs"] = [{**what, "name": pod.name, "uid": pod.uid} for pod in role.pods[:MOST_REFERENCES]]
    return status


RULES = Rules(
    status,
    frozenset([*"phase mode startTime completionTime run conditions observedGeneration".split(), *ROLES]),
    dict.fromkeys(ROLES, ("replicas",)),
)
