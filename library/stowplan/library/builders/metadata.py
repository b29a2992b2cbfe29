"""Metadata of every compiled object."""

from collections.abc import Mapping
from typing import Any

from stowplan.library.ir.data import Origin
from stowplan.library.values import labels

EARLY_KINDS = frozenset({"Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "ConfigMap", "Service"})
"""Kinds without a health check in Argo CD. They are applied one sync wave before all other objects.

No later wave waits for them to become healthy.

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
    """Return ObjectMeta with the standard labels, the annotation with the spec's file, and the sync wave of `kind`.

    `extra_labels` and `annotations` are added. `namespace` is None for cluster-scoped kinds.
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
