"""Metadata of every object we write."""

from collections.abc import Mapping
from typing import Any

from stowplan.library.ir.data import Origin
from stowplan.library.values import labels

EARLY_KINDS = frozenset({"Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "ConfigMap", "Service"})
"""Kinds without a health check in Argo CD; they go one wave ahead of what runs or binds, so no wave can wait.

A PodDisruptionBudget is not among them: Argo CD waits for its status.
"""

EARLY_WAVE = "-1"


def metadata(
    kind: str,
    name: str,
    origin: Origin,
    component: str,
    *,
    namespace: str | None = None,
    extra_labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """ObjectMeta with the standard labels, the source annotation and the wave of `kind`.

    Cluster-scoped kinds pass no namespace.
    """
    spec = origin.spec
    notes = dict(annotations) if annotations else {}
    if origin.source:
        notes[labels.SOURCE] = origin.source
    if kind in EARLY_KINDS:
        notes[labels.SYNC_WAVE] = EARLY_WAVE
    tags = labels.standard(spec, component)
    meta: dict[str, Any] = {"name": name, "labels": tags}
    if namespace:
        meta["namespace"] = namespace
        if namespace != spec.namespace:
            tags[labels.SPEC_NAMESPACE] = spec.namespace
    if extra_labels:
        tags |= extra_labels
    if notes:
        meta["annotations"] = notes
    return meta
