"""Does every reference lead to an object of the output, or to one that is known to come from elsewhere?"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, lenient
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.references import REFERRING, references_of
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import FieldPath, did_you_mean
from stowplan.schema.meta import ObjectId

_CODE = "SP506"
_BUILT_IN_ROLES = frozenset({"admin", "cluster-admin", "edit", "view"})
_IN_EVERY_NAMESPACE = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})


class ObjectReference(NamedTuple):
    """A field of `owner` that names another object.

    `path` is the path of the field in the owner. `key` is the key of a ConfigMap that the field needs, or empty.
    `ordinal` is the number of the StatefulSet's pod that a pod affinity asks for; None for other references.
    """

    owner: ObjectSummary
    target: ObjectId
    path: FieldPath
    key: str
    ordinal: int | None


class ConfigMapKeys(NamedTuple):
    """The keys of a ConfigMap."""

    id: ObjectId
    keys: tuple[str, ...]


class Replicas(NamedTuple):
    """The number of pods of a StatefulSet."""

    id: ObjectId
    number: int


class External(NamedTuple):
    """An object that the output refers to and that another tool or person is known to create."""

    kind: str
    namespace: str
    name: str


def collect(found: SpecObjects) -> Iterator[ObjectReference | ConfigMapKeys | Replicas | External]:
    """Yield the facts of one spec: its ConfigMaps' keys, StatefulSets' pods, external objects, and references.

    A reference is left out if its target is an object of the same spec, has the key or pod that is asked for, and is
    not applied later than its owner.
    """
    keys = {
        obj.id: (*mapping(obj.body, "data"), *mapping(obj.body, "binaryData"))
        for obj in found.objects.of_kind("ConfigMap")
    }
    replicas = {obj.id: _replicas(obj) for obj in found.objects.of_kind("StatefulSet")}
    yield from (ConfigMapKeys(*each) for each in keys.items())
    yield from (Replicas(*each) for each in replicas.items())
    yield from (External(*each) for each in sorted(_externals(found.objects)))
    own = {obj.id: obj.summary for obj in found.objects} if found.spec else {}
    for reference in _references(found.objects):
        target = own.get(reference.target)
        settled = target is not None and not is_early(reference.owner, target)
        if not settled or any(_missing(reference, keys, replicas)):
            yield reference


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each reference whose target, or its key or pod, does not exist.

    Checked are references to claims, volumes, Services, ServiceAccounts, PriorityClasses, ConfigMaps and their keys,
    Roles and cache pods, but not to Secrets, because Secrets are not in Git. Objects that a unit lists as external
    count as existing, and so do the objects that every cluster has. In an object of a user or an extension, the finding
    is a warning.
    """
    given = {(each.kind, each.namespace, each.name) for each in graph.facts(External)}
    keys = {each.id: each.keys for each in graph.facts(ConfigMapKeys)}
    replicas = {each.id: each.number for each in graph.facts(Replicas)}
    found: list[ObjectFinding] = []
    for reference in graph.facts(ObjectReference):
        owner, target = reference.owner, reference.target
        if target[1:] in given or _is_in_every_cluster(target):
            continue
        if not graph.exists(target):
            message = f"{target} is named here, but nothing compiles to it."
            hint = _nearest(target, graph)
            found.append(lenient(owner, _CODE, reference.path, message, hint))
        elif graph.find(target):
            for message, hint in _missing(reference, keys, replicas):
                found.append(lenient(owner, _CODE, reference.path, message, hint))
    return found


def references_to(graph: ObjectGraph, targets: Collection[ObjectId]) -> Iterator[ObjectReference]:
    """Return those of the references from `collect`, which leaves some out, that lead to one of `targets`."""
    return (each for each in graph.facts(ObjectReference) if each.target in targets)


def _references(objects: Objects) -> Iterator[ObjectReference]:
    for obj in objects:
        if obj.pods or obj.kind[1] in REFERRING:
            for each in references_of(obj.id, obj.body, obj.pods):
                yield ObjectReference(obj.summary, *each)


def _externals(objects: Objects) -> set[tuple[str, str, str]]:
    found = set[tuple[str, str, str]]()
    last: tuple[ExternalReference, ...] = ()
    for obj in objects:
        # All objects of a unit share one tuple.
        if obj.output.externals is not last:
            last = obj.output.externals
            found.update((each.kind, each.namespace, each.name) for each in last)
    return found


def _replicas(stateful_set: Object) -> int:
    replicas = mapping(stateful_set.body, "spec").get("replicas")
    return 1 if replicas is None else int(replicas)


def is_early(owner: ObjectSummary, target: ObjectSummary) -> bool:
    """Whether one Application applies the owner in a wave before that of the target; False for two Applications."""
    return owner.application == target.application and owner.wave < target.wave


def _is_in_every_cluster(target: ObjectId) -> bool:
    if (target.kind, target.name) in _IN_EVERY_NAMESPACE:
        return True
    if target.kind == "ClusterRole":
        return target.name in _BUILT_IN_ROLES or target.name.startswith("system:")
    return target.kind == "PriorityClass" and target.name.startswith("system-")


def _missing(
    reference: ObjectReference, keys: dict[ObjectId, tuple[str, ...]], replicas: dict[ObjectId, int]
) -> Iterator[tuple[str, str]]:
    """Yield a pair of message and hint for a key or a pod that the target of a reference does not have.

    `keys` are the keys of each ConfigMap, `replicas` the number of pods of each StatefulSet.
    """
    target = reference.target
    known, number = keys.get(target, ()), replicas.get(target, 1)
    if reference.key and reference.key not in known:
        yield f'{target} has no key "{reference.key}".', did_you_mean(reference.key, known)
    if reference.ordinal is not None and reference.ordinal >= number:
        message = f"{target} has {number} pods, so there is none with the number {reference.ordinal}."
        yield message, f"Ask for a pod from 0 to {number - 1}."


def _nearest(target: ObjectId, graph: ObjectGraph) -> str:
    ids = [other.id for other in graph.of_kind(target.kind)]
    names = [other.name for other in ids if other.namespace == target.namespace]
    return did_you_mean(target.name, names) if names else f"No {target.kind} is compiled for this namespace."
