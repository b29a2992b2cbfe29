"""Namespace."""

from stowplan.library import labels
from stowplan.library.builders.metadata import EARLY_WAVE
from stowplan.library.manifest import Manifest


def namespace(name: str, pod_security: str) -> Manifest:
    """A namespace that enforces a Pod Security level. Neither a prune nor the removal of its Application deletes it."""
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {
                labels.PART_OF: "stowplan",
                labels.MANAGED_BY: "stowplan",
                "pod-security.kubernetes.io/enforce": pod_security,
            },
            "annotations": {labels.SYNC_OPTIONS: labels.KEEP, labels.SYNC_WAVE: EARLY_WAVE},
        },
    }
    return Manifest(body, stem=name)
