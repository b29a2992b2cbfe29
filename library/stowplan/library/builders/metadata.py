"""What every compiled object has: version, kind and metadata."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels

EARLY_KINDS = frozenset({"Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "ConfigMap", "Service"})
"""Kinds without a health check in Argo CD. They are applied one sync wave before all other objects.

No later wave waits for them to become healthy.

A PodDisruptionBudget is not included: Argo CD waits for its status.
"""

EARLY_WAVE = "-1"

_RBAC = "rbac.authorization.k8s.io/v1"
_VERSIONS = {
    "ConfigMap": "v1",
    "CronJob": "batch/v1",
    "Job": "batch/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
    "PodDisruptionBudget": "policy/v1",
    "Role": _RBAC,
    "RoleBinding": _RBAC,
    "Service": "v1",
    "ServiceAccount": "v1",
    "StatefulSet": "apps/v1",
}
"""The `apiVersion` of Kubernetes' own kinds."""

_NONE: Mapping[str, str] = {}


class Head(NamedTuple):
    """What the metadata of an object is made from. `component`, such as `runtime`, is the value of a label.

    `labels` and `annotations` are those of the object besides the ones that every object has. `namespace` is by default
    that of the spec, and empty for cluster-scoped kinds.
    """

    origin: Origin
    component: str
    labels: Mapping[str, str] = _NONE
    annotations: Mapping[str, str] = _NONE
    namespace: str | None = None


def manifest(kind: str, name: str, head: Head, *, stem: str = "", run: bool = False, **fields: Any) -> Manifest:
    """Return an object of one of Kubernetes' own kinds with `fields`, such as `spec`, after its metadata.

    `stem` is the name without a hash at its end, by default `name`. `run` is true for an object of a run. Raises
    `KeyError` for a kind that Stowplan never makes.
    """
    body = {"apiVersion": _VERSIONS[kind], "kind": kind, "metadata": metadata(kind, name, head), **fields}
    return Manifest(body, stem or name, run, clustered=head.namespace == "")


def metadata(kind: str, name: str, head: Head) -> Json:
    """Return ObjectMeta with the component, the annotation with the spec's file, and the sync wave of `kind`.

    The labels and the namespace of the spec come from its chart.
    """
    spec, home = head.origin.spec, head.namespace
    notes = dict(head.annotations)
    if head.origin.source:
        notes[labels.SOURCE] = head.origin.source
    if kind in EARLY_KINDS:
        notes[labels.SYNC_WAVE] = EARLY_WAVE
    tags = {labels.COMPONENT: head.component}
    meta: Json = {"name": name, "labels": tags}
    if home and home != spec.namespace:
        meta["namespace"] = home
        tags[labels.SPEC_NAMESPACE] = spec.namespace
    if head.labels:
        tags |= head.labels
    if notes:
        meta["annotations"] = notes
    return meta
