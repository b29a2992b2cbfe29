"""Does every reference lead to an object of the output, or to one that is known to come from elsewhere?"""

from collections.abc import Iterator

from stowplan.compiler.checks.object_finding import ObjectFinding, about, milder
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.checks.references import Reference
from stowplan.compiler.manifest_fields import mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.meta import ObjectId

_CODE = "SP506"
_BUILT_IN_ROLES = frozenset({"admin", "cluster-admin", "edit", "view"})
_IN_EVERY_NAMESPACE = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})


def check(objects: Objects) -> list[ObjectFinding]:
    """References to claims, volumes, Services, ServiceAccounts, ConfigMaps and their keys, Roles and cache pods.

    Secrets are never looked for: they do not stand in Git. What a unit lists as external counts as existing, and so
    does what every cluster has. In an object that a user or an extension brought, it is a warning.
    """
    externals = {
        (reference.kind, reference.namespace, reference.name) for obj in objects for reference in obj.output.externals
    }
    return [
        found
        for obj in objects
        for reference in objects.references(obj)
        if not _elsewhere(reference.target, externals)
        for found in _follow(obj, reference, objects)
    ]


def _elsewhere(target: ObjectId, externals: set[tuple[str, str, str]]) -> bool:
    if (target.kind, target.namespace, target.name) in externals:
        return True
    if (target.kind, target.name) in _IN_EVERY_NAMESPACE:
        return True
    if target.kind == "ClusterRole":
        return target.name in _BUILT_IN_ROLES or target.name.startswith("system:")
    return target.kind == "PriorityClass" and target.name.startswith("system-")


def _follow(obj: Object, reference: Reference, objects: Objects) -> Iterator[ObjectFinding]:
    if not objects.exists(reference.target):
        message = f"{reference.target} is named here, but nothing compiles to it."
        hint = _nearest(reference.target, objects)
        yield about(obj, _CODE, reference.path, message, hint, severity=milder(obj))
    target = objects.find(reference.target)
    for message, hint in _inside(reference, target.body) if target else ():
        yield about(obj, _CODE, reference.path, message, hint, severity=milder(obj))


def _inside(reference: Reference, body: Json) -> Iterator[tuple[str, str]]:
    """What is missing in the object that a reference leads to: a key, or a pod of that number."""
    keys = {**mapping(body, "data"), **mapping(body, "binaryData")}
    if reference.key and reference.key not in keys:
        yield f'{reference.target} has no key "{reference.key}".', did_you_mean(reference.key, keys)
    if reference.ordinal is not None:
        replicas = mapping(body, "spec").get("replicas")
        count = 1 if replicas is None else int(replicas)
        if reference.ordinal >= count:
            message = f"{reference.target} has {count} pods, so there is none with the number {reference.ordinal}."
            yield message, f"Ask for a pod from 0 to {count - 1}."


def _nearest(target: ObjectId, objects: Objects) -> str:
    ids = [obj.id for obj in objects.of_kind(target.kind)]
    names = [other.name for other in ids if other.namespace == target.namespace]
    return did_you_mean(target.name, names) if names else f"No {target.kind} is compiled for this namespace."
