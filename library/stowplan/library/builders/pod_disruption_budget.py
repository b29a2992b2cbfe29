"""PodDisruptionBudget."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest


def one_at_a_time(name: str, origin: Origin, component: str, *, selector: Mapping[str, str]) -> Manifest:
    """Return a budget of one pod at a time. It never protects unready pods, so these cannot block a drain."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata("PodDisruptionBudget", name, origin, component, namespace=origin.spec.namespace),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": dict(selector)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
    return Manifest(body, stem=name)
