"""Did a field change that Kubernetes does not let change?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stowplan.compiler.checks.manifests import items, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.quantities import larger
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId
from stowplan.schema.wording import describe

_CODE = "SP540"
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Fixed:
    """What may not change in an object: all fields below `below` but `mutable`, or only those in `fields`."""

    below: str = ""
    mutable: frozenset[str] = frozenset()
    fields: tuple[tuple[str, ...], ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What a missing field means, by its last name."""


def _fixed(*paths: str, **defaults: Any) -> Fixed:
    return Fixed(fields=tuple(tuple(path.split(".")) for path in paths), defaults=defaults)


_TABLE: dict[tuple[str, str], Fixed] = {
    ("", "PersistentVolume"): Fixed(
        below="spec",
        mutable=frozenset(
            "accessModes capacity claimRef mountOptions persistentVolumeReclaimPolicy storageClassName "
            "volumeAttributesClassName".split()
        ),
        defaults={"volumeMode": "Filesystem"},
    ),
    ("", "PersistentVolumeClaim"): Fixed(
        below="spec",
        mutable=frozenset({"resources", "volumeAttributesClassName"}),
        defaults={"volumeMode": "Filesystem"},
    ),
    ("", "Service"): _fixed("spec.clusterIP", clusterIP=""),
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
        below="spec",
        mutable=frozenset(
            "activeDeadlineSeconds backoffLimit maxFailedIndexes parallelism podReplacementPolicy suspend "
            "ttlSecondsAfterFinished".split()
        ),
        defaults={"completionMode": "NonIndexed", "manualSelector": False},
    ),
    ("networking.k8s.io", "IngressClass"): _fixed("spec.controller"),
    (_RBAC, "ClusterRoleBinding"): _fixed("roleRef"),
    (_RBAC, "RoleBinding"): _fixed("roleRef"),
    ("scheduling.k8s.io", "PriorityClass"): _fixed(
        "value", "preemptionPolicy", preemptionPolicy="PreemptLowerPriority"
    ),
    ("storage.k8s.io", "StorageClass"): _fixed(
        "provisioner",
        "parameters",
        "reclaimPolicy",
        "volumeBindingMode",
        reclaimPolicy="Delete",
        volumeBindingMode="Immediate",
    ),
}
"""By group and kind, from `Validate…Update` of Kubernetes 1.34. Any other field may change."""

_IMMUTABLE_DATA = _fixed("data", "binaryData", "immutable")

_DATA_KEPT = "The data is kept, but only by hand can it move: "
_HINTS = {
    "PersistentVolume": f"{_DATA_KEPT}give the spec a new name, or",
    "PersistentVolumeClaim": f"{_DATA_KEPT}give the spec a new name, or",
    "Job": "Change the annotation stowplan.dev/run, so that the Job gets a new name, or",
    "StatefulSet": "Give the spec a new name, or, with `--cascade=orphan`,",
}


def check(objects: Objects, previous: Mapping[ObjectId, Json]) -> list[ObjectFinding]:
    """Each object against the one of the same identity that was written before."""
    found: list[ObjectFinding] = []
    for obj in objects:
        old = previous.get(obj.id)
        if old is not None:
            found += _check(obj, old)
    return found


def _check(obj: Object, old: Json) -> Iterator[ObjectFinding]:
    new, own = obj.body, obj.id
    for path, before, after in _changes(own, old, new):
        change = "" if own.kind == "Secret" else f" from {describe(before)} to {describe(after)}"
        message = f"The field changed{change}, but Kubernetes lets nobody change it in a {own.kind}."
        yield about(obj, _CODE, path, message, _hint(own.kind))
    for path, message in (*_shrunk(own, old, new), *_dropped_versions(own, old, new)):
        yield about(obj, _CODE, path, message, _hint(own.kind))


def _hint(kind: str) -> str:
    begin = _HINTS.get(kind, "Give the object a new name, or")
    return f"{begin} delete it from the cluster and its file from the output, and compile again."


def _changes(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, Any, Any]]:
    fixed = _TABLE.get((own.group, own.kind), Fixed())
    if own.kind in ("ConfigMap", "Secret") and old.get("immutable"):
        fixed = _IMMUTABLE_DATA
    for path in _fixed_paths(fixed, old, new):
        before, after = (mapping(body, *path[:-1]).get(path[-1], fixed.defaults.get(path[-1])) for body in (old, new))
        if before != after and not _elastic(own, path, old, new):
            yield _first_difference(path, before, after)


def _fixed_paths(fixed: Fixed, old: Json, new: Json) -> Iterator[tuple[str, ...]]:
    yield from fixed.fields
    if fixed.below:
        names = mapping(old, fixed.below).keys() | mapping(new, fixed.below).keys()
        yield from ((fixed.below, name) for name in sorted(names - fixed.mutable))


def _elastic(own: ObjectId, path: tuple[str, ...], old: Json, new: Json) -> bool:
    """`completions` of an Indexed Job may change together with `parallelism` (elastic Indexed Jobs, since 1.31)."""
    if own.kind != "Job" or path != ("spec", "completions"):
        return False
    specs = [mapping(body, "spec") for body in (old, new)]
    return all(
        spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism") for spec in specs
    )


def _first_difference(path: FieldPath, before: Any, after: Any) -> tuple[FieldPath, Any, Any]:
    """The deepest field that differs, the first one in the order of keys."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) != after.get(key):
                return _first_difference((*path, key), before.get(key), after.get(key))
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new:
                return _first_difference((*path, index), old, new)
    return path, before, after


def _shrunk(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, str]]:
    if own.kind != "PersistentVolumeClaim":
        return
    before, after = (mapping(body, "spec", "resources", "requests").get("storage") for body in (old, new))
    if larger(before, after):
        message = f"The claim shrinks from {before} to {after}; a claim can only grow."
        yield ("spec", "resources", "requests", "storage"), message


def _dropped_versions(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, str]]:
    """Objects may be stored in a version that once was the stored one; the API server refuses to forget it."""
    if own.kind != "CustomResourceDefinition":
        return
    present = {version.get("name") for version in items(new, "spec", "versions")}
    for version in items(old, "spec", "versions"):
        if version.get("storage") and version.get("name") not in present:
            message = f'The version "{version.get("name")}", in which objects are stored, is gone.'
            yield ("spec", "versions"), message
