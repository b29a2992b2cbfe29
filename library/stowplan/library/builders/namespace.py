"""Namespaces of the specs."""

from stowplan.library.builders.metadata import EARLY_WAVE
from stowplan.library.manifest import Manifest
from stowplan.library.values import labels

LABELS = {labels.PART_OF: "stowplan", labels.MANAGED_BY: "stowplan"}
"""Labels of all Namespaces, which their chart gives."""


def namespace(name: str, pod_security: str) -> Manifest:
    """Return the Namespace `name`, which enforces the Pod Security level `pod_security`, such as `restricted`.

    Argo CD deletes the Namespace neither by a prune nor with its Application.

    Without `IgnoreExtraneous`, Argo CD 3.2 reports the Application as OutOfSync forever once no spec uses the
    namespace, and syncs it again and again.
    """
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {"pod-security.kubernetes.io/enforce": pod_security},
            "annotations": {
                labels.COMPARE_OPTIONS: labels.IGNORE_EXTRANEOUS,
                labels.SYNC_OPTIONS: labels.KEEP,
                labels.SYNC_WAVE: EARLY_WAVE,
            },
        },
    }
    return Manifest(body, stem=name, clustered=True)
