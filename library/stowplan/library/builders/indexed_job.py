"""Indexed Jobs of training roles."""

from collections.abc import Sequence

from stowplan.library.builders.pods import wait_container
from stowplan.library.ir.training import Role
from stowplan.library.manifest import Json

LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}
"""Rule of a Job: a pod that is lost with its cluster node is replaced, and that does not count as a failure.

It requires the restart policy `Never`.
"""


def job_spec(role: Role, template: Json, *, rules: Sequence[Json]) -> Json:
    """Return the spec of a role's Job: one pod per index, all in parallel.

    A replaced pod ends before its successor starts.
    `rules` are entries of `podFailurePolicy` that act on exit codes. They apply only to pods with the restart policy
    `Never`. The Job has no time to live: Argo CD would see a removed Job as missing and train again.
    """
    judged = (
        [*wait_container.rules(template), *rules, LOST_NODE] if template["spec"]["restartPolicy"] == "Never" else []
    )
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
        spec["backoffLimit"] = role.retries
    if judged:
        spec["podFailurePolicy"] = {"rules": judged}
    return spec
