"""Status of an MxJob, as deepinsight's operator would write it."""

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status, is_final, of_work, settled
from stowplan.agents.reporter.rules.training_group import Role, Training, reason_of, training

ORDER = ("scheduler", "server", "worker")


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing.

    The platform's setting `mxnet_success` decides when a distributed job succeeds. With `scheduler`, the job succeeds
    when the scheduler succeeds, even if a worker failed, as in the old operator. With `worker`, every deciding role
    must succeed.
    """
    if is_final(seen):
        return None
    distributed = seen.resource.spec.get("jobMode") == "dist"
    given = seen.resource.spec.get("replicaSpecs") or ()
    roles = {str(each.get("mxReplicaType") or "WORKER").lower() for each in given if each.get("replicas", 1)}
    deciders = [role for role in ORDER if role in roles and role != "server"] or ["worker"]
    enough = ("scheduler",) if distributed and seen.mxnet_success == "scheduler" else ()
    found = training(seen, deciders, enough=enough)
    return {
        "phase": _phase(found),
        "state": {"complete": "Succeeded", "failed": "Failed"}.get(found.outcome.state),
        "reason": reason_of(found) or None if found.outcome.state != "complete" else None,
        "replicaStatuses": [_replica(found.roles[name]) for name in ORDER if name in found.roles] or None,
        "run": found.run.name or None,
        "conditions": settled(of_work(found.outcome, found.cause), seen),
    }


def _phase(found: Training) -> str:
    if found.outcome.is_over:
        return "Done"
    if found.outcome.state in ("absent", "suspended"):
        return "Creating"
    return "Running" if found.all_run or found.before.get("phase") == "Running" else "Creating"


def _replica(role: Role) -> Status:
    """Return the entry of a role in `replicaStatuses`, with the field names and values of the old operator.

    The old operator counts a pending or starting pod as `Running`.
    """
    counts = {
        "Unknown": role.counts["unknown"],
        "Running": role.counts["pending"] + role.counts["starting"] + role.counts["running"],
        "Succeeded": role.counts["succeeded"],
        "Failed": role.counts["failed"],
    }
    states = {"starting": "Running", "running": "Running", "succeeded": "Succeeded", "failed": "Failed"}
    return {
        "Mx_replica_type": role.name.upper(),
        "state": states[role.state],
        "ReplicasStates": {state: count for state, count in counts.items() if count},
    }


RULES = Rules(
    status,
    frozenset("phase state reason replicaStatuses run conditions observedGeneration".split()),
    {"jobMode": None, "replicaSpecs": ("replicas", "mxReplicaType")},
)
