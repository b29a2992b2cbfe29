"""Objects that two targets write to the same cluster, where Argo CD would refuse one of them."""

from collections.abc import Iterable, Iterator, Sequence

from stowplan.compiler.environments.target import Target
from stowplan.library.values.names import without_hash
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import ObjectId

Objects = Iterable[tuple[str, ObjectId]]
"""The path of each object in its target's folder, and its identity."""


def collisions(objects: Sequence[tuple[Target, Objects]], argocd_folder: str) -> Iterator[tuple[Target, Finding]]:
    """Yield one SP809 for each pair of targets that write an object to the same cluster, about the second target.

    `argocd_folder` is the folder of objects that go to the cluster of Argo CD itself. Targets without
    `argocd.repoURL` are left out, because their clusters are not known, and so are files that Argo CD does not read.
    """
    first: dict[tuple[str, ObjectId], Target] = {}
    for target, own in objects:
        argocd = target.platform.data.get("argocd", {})
        shared: dict[str, list[ObjectId]] = {}
        synced = (each for each in own if each[0].endswith(".yaml") and argocd.get("repoURL"))
        for path, known in synced:
            cluster = "Argo CD" if path.startswith(f"{argocd_folder}/") else _cluster(target)
            other = first.setdefault((cluster, known), target)
            if other is not target:
                shared.setdefault(other.name, []).append(known)
        for name, both in shared.items():
            yield target, _finding(target, name, both)


def _cluster(target: Target) -> str:
    destination = target.platform.data.get("argocd", {}).get("destination", {})
    return str(destination.get("name") or destination.get("server") or "https://kubernetes.default.svc")


def _plainest(objects: Sequence[ObjectId]) -> ObjectId:
    """Return the first object, if possible one without a hash in its name, which would change with every edit."""
    return min(objects, key=lambda each: (without_hash(each.name) != each.name, each))


def _finding(target: Target, other: str, both: Sequence[ObjectId]) -> Finding:
    more = f" and {len(both) - 1} more objects" if len(both) > 1 else ""
    message = f"{other} and {target.name} write {_plainest(both)}{more} to the same cluster, {_cluster(target)}."
    hint = (
        "Give each a cluster of its own in `clusters`, or other namespaces. CRDs need `argocd.crds: external` in all"
        " environments of a cluster but one."
    )
    return finding("SP809", (*target.path, "name"), message, hint)
