"""Does every reference lead to an object of the output, or to one that is known to come from elsewhere?"""

from collections.abc import Collection, Iterator

from stowplan.compiler.checks.facts.facts import Reference
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about, milder
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.meta import ObjectId

_CODE = "SP506"
_BUILT_IN_ROLES = frozenset({"admin", "cluster-admin", "edit", "view"})
_IN_EVERY_NAMESPACE = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})


def check(world: World) -> list[ObjectFinding]:
    """References to claims, volumes, Services, ServiceAccounts, ConfigMaps and their keys, Roles and cache pods.

    Secrets are never looked for: they do not stand in Git. What a unit lists as external counts as existing, and so
    does what every cluster has. In an object that a user or an extension brought, it is a warning.
    """
    given = world.externals
    ours = {target for target in world.targets if target[1:] not in given and not _in_every_cluster(target)}
    return [found for reference in world.references_to(ours) for found in _follow(reference, world)]


def _in_every_cluster(target: ObjectId) -> bool:
    if (target.kind, target.name) in _IN_EVERY_NAMESPACE:
        return True
    if target.kind == "ClusterRole":
        return target.name in _BUILT_IN_ROLES or target.name.startswith("system:")
    return target.kind == "PriorityClass" and target.name.startswith("system-")


def _follow(reference: Reference, world: World) -> Iterator[ObjectFinding]:
    owner, target = reference.owner, reference.target
    if not world.exists(target):
        message = f"{target} is named here, but nothing compiles to it."
        yield about(owner, _CODE, reference.path, message, _nearest(target, world), severity=milder(owner))
    elif world.find(target):
        keys, replicas = world.contents.get(target, ()), world.replicas.get(target, 1)
        for message, hint in missing(reference, keys, replicas):
            yield about(owner, _CODE, reference.path, message, hint, severity=milder(owner))


def missing(reference: Reference, keys: Collection[str], replicas: int) -> Iterator[tuple[str, str]]:
    """What is missing in the object that a reference leads to: a key, or a pod of that number."""
    target = reference.target
    if reference.key and reference.key not in keys:
        yield f'{target} has no key "{reference.key}".', did_you_mean(reference.key, keys)
    if reference.ordinal is not None and reference.ordinal >= replicas:
        message = f"{target} has {replicas} pods, so there is none with the number {reference.ordinal}."
        yield message, f"Ask for a pod from 0 to {replicas - 1}."


def _nearest(target: ObjectId, world: World) -> str:
    ids = [other.id for other in world.of_kind(target.kind)]
    names = [other.name for other in ids if other.namespace == target.namespace]
    return did_you_mean(target.name, names) if names else f"No {target.kind} is compiled for this namespace."
