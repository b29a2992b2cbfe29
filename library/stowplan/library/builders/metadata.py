"""Metadata of every compiled object."""

from collections.abc import Mapping
from typing import Any

from stowplan.library.ir.data import Origin
from stowplan.library.values import labels

EARLY_KINDS = frozenset({"Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "ConfigMap", "Service"})
"""Kinds without a health check in Argo CD. They go one wave ahead of the other objects, and no wave waits for them.

A PodDisruptionBudget is not included: Argo CD waits for its status.
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
    """Return ObjectMeta with the standard labels, the source annotation and the wave of `kind`.

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
