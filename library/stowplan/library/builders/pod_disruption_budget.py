"""PodDisruptionBudget that slows the drain of cluster nodes."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest


def one_at_a_time(name: str, origin: Origin, component: str, *, selector: Mapping[str, str]) -> Manifest:
    """Return a PodDisruptionBudget: at most one of the pods with the labels `selector` may be evicted at a time.

    It does not protect pods that are not ready, so these cannot block the drain of a cluster node.
    """
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
