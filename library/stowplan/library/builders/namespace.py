"""Namespace."""

from stowplan.library.builders.metadata import EARLY_WAVE
from stowplan.library.manifest import Manifest
from stowplan.library.values import labels


def namespace(name: str, pod_security: str) -> Manifest:
    """Return a namespace that enforces a Pod Security level.

    Neither a prune nor the removal of its Application deletes it.

    Without `IgnoreExtraneous`, Argo CD 3.2 reports the Application as OutOfSync forever once no spec uses the
    namespace, and syncs it again and again.
    """
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
            "annotations": {
                labels.COMPARE_OPTIONS: labels.IGNORE_EXTRANEOUS,
                labels.SYNC_OPTIONS: labels.KEEP,
                labels.SYNC_WAVE: EARLY_WAVE,
            },
        },
    }
    return Manifest(body, stem=name)
