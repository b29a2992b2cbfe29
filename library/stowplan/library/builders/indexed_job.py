"""Indexed Jobs of training roles."""

from collections.abc import Sequence

from stowplan.library.builders.pods import wait_container
from stowplan.library.ir.training import Role
from stowplan.library.manifest import Json

LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}
"""Rule that replaces a pod after the loss of its node without counting a failure.

It requires the restart policy `Never`.
"""


def job_spec(role: Role, template: Json, *, rules: Sequence[Json]) -> Json:
    """Return a Job with one pod per index, all in parallel. A replaced pod ends before its successor starts.

    `rules` judge exit codes. The Job has no time to live: Argo CD would see a removed Job as missing and train again.
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
