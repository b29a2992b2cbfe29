"""The fields of existing objects that Kubernetes does not let anybody change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.builders import job
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.library.manifest import Json

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Fixed:
    """The fixed fields of an object: all fields directly below `below` except `mutable`, and the paths in `fields`.

    `below` is a top-level field, or empty for none. A field whose last name is in `once` may be added if it had no
    value.
    """

    below: str = ""
    mutable: frozenset[str] = frozenset()
    fields: tuple[tuple[str, ...], ...] = ()
    once: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The value that Kubernetes gives to a missing field, by the last name of its path."""

    def changes(self, old: Json, new: Json) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
        """Yield path, old and new value of each fixed field that differs; a missing one has its default, or None."""
        for path in self._paths(old, new):
            before, after = (
                mapping(body, *path[:-1]).get(path[-1], self.defaults.get(path[-1])) for body in (old, new)
            )
            if before != after and not (before is None and path[-1] in self.once):
                yield path, before, after

    def _paths(self, old: Json, new: Json) -> Iterator[tuple[str, ...]]:
        yield from self.fields
        if self.below:
            names = mapping(old, self.below).keys() | mapping(new, self.below).keys()
            yield from ((self.below, name) for name in sorted(names - self.mutable))


def _fixed(*paths: str, **defaults: Any) -> Fixed:
    return Fixed(fields=_split(*paths), defaults=defaults)


def _split(*paths: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split(".")) for path in paths)


_TABLE: dict[tuple[str, str], Fixed] = {
    **{
        (kind.group, kind.kind): Fixed(below="spec", mutable=kind.mutable)
        for kind in ENGINE_KINDS
        if kind.mutable is not None
    },
    ("", "PersistentVolume"): Fixed(
        below="spec",
        mutable=frozenset(
            "accessModes capacity claimRef mountOptions persistentVolumeReclaimPolicy storageClassName "
            "volumeAttributesClassName".split()
        ),
        once=frozenset({"nodeAffinity"}),
        defaults={"volumeMode": "Filesystem"},
    ),
    ("", "PersistentVolumeClaim"): Fixed(
        below="spec",
        mutable=frozenset({"resources", "volumeAttributesClassName"}),
        fields=_split("spec.resources.limits"),
        defaults={"volumeMode": "Filesystem"},
    ),
    ("", "ResourceQuota"): _fixed("spec.scopes"),
    ("", "Secret"): _fixed("type", type="Opaque"),
    ("", "Service"): Fixed(
        fields=_split("spec.clusterIP", "spec.healthCheckNodePort", "spec.loadBalancerClass"),
        once=frozenset({"loadBalancerClass"}),
        defaults={"clusterIP": ""},
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _fixed(
        "spec.group", "spec.scope", "spec.names.kind", "spec.names.plural"
    ),
    ("apps", "DaemonSet"): _fixed("spec.selector"),
    ("apps", "Deployment"): _fixed("spec.selector"),
    ("apps", "ReplicaSet"): _fixed("spec.selector"),
    ("apps", "StatefulSet"): Fixed(
        below="spec",
        mutable=frozenset(
            "minReadySeconds ordinals persistentVolumeClaimRetentionPolicy replicas revisionHistoryLimit template "
            "updateStrategy".split()
        ),
        defaults={"podManagementPolicy": "OrderedReady"},
    ),
    ("batch", "Job"): Fixed(
        below="spec", mutable=job.MUTABLE, defaults={"completionMode": "NonIndexed", "manualSelector": False}
    ),
    ("discovery.k8s.io", "EndpointSlice"): _fixed("addressType"),
    ("networking.k8s.io", "IngressClass"): _fixed("spec.controller"),
    ("node.k8s.io", "RuntimeClass"): _fixed("handler"),
    (_RBAC, "ClusterRoleBinding"): _fixed("roleRef"),
    (_RBAC, "RoleBinding"): _fixed("roleRef"),
    ("scheduling.k8s.io", "PriorityClass"): _fixed(
        "value", "preemptionPolicy", preemptionPolicy="PreemptLowerPriority"
    ),
    ("storage.k8s.io", "CSIDriver"): _fixed("spec.attachRequired", attachRequired=True),
    ("storage.k8s.io", "StorageClass"): _fixed(
        "provisioner",
        "parameters",
        "reclaimPolicy",
        "volumeBindingMode",
        reclaimPolicy="Delete",
        volumeBindingMode="Immediate",
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): _fixed("driverName", "parameters"),
}
"""Fixed fields by group and kind; other kinds have none. Each field was tried on real API servers of Kubernetes."""

_DATA = ("data", "stringData", "binaryData", "immutable")
_KINDS_OF_DATA = {("", "ConfigMap"), ("", "Secret")}


def fixed(kind: tuple[str, str], old: Json) -> Fixed:
    """Return the fixed fields of an object of this `kind` (group and kind) whose committed body is `old`.

    Empty for a kind without any. All data of a ConfigMap or Secret is fixed if `old` is marked as immutable.
    """
    found = _TABLE.get(kind, Fixed())
    if kind in _KINDS_OF_DATA and old.get("immutable"):
        return Fixed(fields=(*found.fields, *_split(*_DATA)), defaults=found.defaults)
    return found
