"""Indexed Jobs of training roles."""

from collections.abc import Sequence

from stowplan.library.builders.job import LOST_NODE
from stowplan.library.builders.pods import wait_container
from stowplan.library.ir.training import Role
from stowplan.library.manifest import Json

LOST_WITH_NODE: Json = {**LOST_NODE, "action": "FailJob"}
"""Rule of a Job: a pod that is lost with its cluster node fails the Job, since the others cannot go on with another."""


def job_spec(role: Role, template: Json, *, rules: Sequence[Json], replaceable: bool) -> Json:
    """Return the spec of a role's Job: one pod per index, all in parallel.

    If its pods are not `replaceable`, the first pod that fails or is lost with its cluster node fails the Job. Only
    containers that restart in their pod (restart policy `OnFailure`) have tries left. A replaced pod ends before its
    successor starts. `rules` are entries of `podFailurePolicy` that act on exit codes. They apply only to pods with the
    restart policy `Never`. The Job has no time to live: Argo CD would see a removed Job as missing and train again.
    """
    never = template["spec"]["restartPolicy"] == "Never"
    lost = LOST_NODE if replaceable else LOST_WITH_NODE
    judged = [*wait_container.rules(template), *rules, lost] if never else []
    spec: Json = {
        "completionMode": "Indexed",
        "completions": role.size,
        "parallelism": role.size,
        "podReplacementPolicy": "Failed",
        "template": template,
    }
    if role.deadline:
        spec["activeDeadlineSeconds"] = role.deadline
    if role.tolerant:
        spec["backoffLimitPerIndex"] = role.restarts
    else:
        spec["backoffLimit"] = role.retries if replaceable or not never else 0
    if judged:
        spec["podFailurePolicy"] = {"rules": judged}
    return spec
