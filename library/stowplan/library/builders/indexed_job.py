"""Indexed Jobs of training roles."""

from collections.abc import Sequence

from stowplan.library.builders.pods import wait_container
from stowplan.library.ir.training import Role
from stowplan.library.manifest import Json

LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}
"""A pod that lost its node is replaced and not counted as failed. Kubernetes allows rules only with `Never`."""


def job_spec(role: Role, template: Json, *, rules: Sequence[Json]) -> Json:
    """One pod for each index, all at a time. A pod that is replaced is gone before its successor starts.

    `rules` judge exit codes. There is no time to live: Argo CD would see a removed Job as missing and train again.
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
