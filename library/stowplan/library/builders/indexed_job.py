"""Indexed Jobs of training roles."""

from typing import Any

from stowplan.library.manifest import Json

LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}
"""A pod that lost its node is replaced and not counted as failed. Kubernetes allows rules only with `Never`."""


def job_spec(size: int, template: Json, *, retries: int, rules: list[Json]) -> Json:
    """One pod for each index, all at a time. A pod that is replaced is gone before its successor starts.

    There is no time to live: Argo CD would see a removed Job as missing and train again.
    """
    spec: dict[str, Any] = {
        "backoffLimit": retries,
        "completionMode": "Indexed",
        "completions": size,
        "parallelism": size,
        "podReplacementPolicy": "Failed",
        "template": template,
    }
    if rules:
        spec["podFailurePolicy"] = {"rules": rules}
    return spec
