"""Does each claim fit the volume that it names, and does each volume have a handle of its own?"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import larger
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_CODE = "SP515"


class ClaimFact(NamedTuple):
    """What a claim asks of the volume that it names.

    `storage_class` is None if the claim names none, so that the cluster may fill in a class. `mode` is the volume mode.
    `size` is a quantity, such as `10Gi`.
    """

    owner: ObjectSummary
    volume: str
    storage_class: str | None
    mode: str
    access_modes: tuple[str, ...]
    size: str


class VolumeFact(NamedTuple):
    """What a volume offers.

    `bound` is namespace and name of the claim that the volume is reserved for; None if it is free for any claim.
    `handle` is the name of the CSI driver and the handle of the volume; None for other kinds of volumes.
    """

    owner: ObjectSummary
    storage_class: str
    mode: str
    access_modes: tuple[str, ...]
    size: str
    bound: tuple[str | None, str | None] | None
    handle: tuple[str, str] | None


def collect(found: SpecObjects) -> Iterator[ClaimFact | VolumeFact]:
    """Yield the claims of a spec that name a volume, and its volumes."""
    for obj in found.objects.of_kind("PersistentVolumeClaim"):
        if not obj.id.group and mapping(obj.body, "spec").get("volumeName"):
            yield _claim(obj)
    for obj in found.objects.of_kind("PersistentVolume"):
        if not obj.id.group:
            yield _volume(obj)


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return findings for claims that would not be bound to the volume they name, and for handles that are used twice.

    The controller compares class, mode, access modes, size and claimRef; a claim that does not fit stays Pending
    (Kubernetes 1.34 `FindMatchingVolume`, `checkVolumeSatisfyClaim`). A cluster node mounts each handle once.
    """
    volumes = {each.owner.id: each for each in graph.facts(VolumeFact)}
    return [*(found for claim in graph.facts(ClaimFact) for found in _pair(claim, volumes)), *_handles(graph)]


def _claim(obj: Object) -> ClaimFact:
    spec = mapping(obj.body, "spec")
    size = str(mapping(spec, "resources", "requests").get("storage"))
    storage_class = _class(spec) if "storageClassName" in spec else None
    return ClaimFact(obj.summary, str(spec["volumeName"]), storage_class, _mode(spec), tuple(spec["accessModes"]), size)


def _volume(obj: Object) -> VolumeFact:
    spec = mapping(obj.body, "spec")
    reference, csi = mapping(spec, "claimRef"), mapping(spec, "csi")
    bound = (reference.get("namespace"), reference.get("name")) if reference else None
    handle = (csi["driver"], csi["volumeHandle"]) if csi else None
    size = str(mapping(spec, "capacity").get("storage"))
    return VolumeFact(obj.summary, _class(spec), _mode(spec), tuple(spec["accessModes"]), size, bound, handle)


def _pair(claim: ClaimFact, volumes: dict[ObjectId, VolumeFact]) -> Iterator[ObjectFinding]:
    volume = volumes.get(ObjectId("", "PersistentVolume", "", claim.volume))
    if volume is None:
        return
    own, where = claim.owner, str(volume.owner.id)
    for path, found, wanted in _differences(claim, volume):
        message = f"Found {found}, but {where} has {wanted}; the claim would never be bound."
        yield about(own, _CODE, path, message, "Make both alike.")
    if volume.bound and volume.bound != (own.id.namespace, own.id.name):
        message = f"{where} is reserved for the claim {volume.bound[0]}/{volume.bound[1]}."
        yield about(own, _CODE, ("spec", "volumeName"), message, "Name another volume, or change its claimRef.")


def _differences(claim: ClaimFact, volume: VolumeFact) -> Iterator[tuple[FieldPath, str, str]]:
    if claim.storage_class is None:
        yield ("spec", "storageClassName"), "no class, which the cluster may fill in", f'"{volume.storage_class}"'
    elif claim.storage_class != volume.storage_class:
        yield ("spec", "storageClassName"), f'"{claim.storage_class}"', f'"{volume.storage_class}"'
    if claim.mode != volume.mode:
        yield ("spec", "volumeMode"), f'"{claim.mode}"', f'"{volume.mode}"'
    missing = sorted(set(claim.access_modes) - set(volume.access_modes))
    if missing:
        yield ("spec", "accessModes"), ", ".join(missing), ", ".join(volume.access_modes)
    if larger(claim.size, volume.size):
        yield ("spec", "resources", "requests", "storage"), claim.size, volume.size


def _class(spec: Json) -> str:
    return str(spec.get("storageClassName") or "")


def _mode(spec: Json) -> str:
    return str(spec.get("volumeMode") or "Filesystem")


def _handles(graph: ObjectGraph) -> list[ObjectFinding]:
    given = [(volume.handle, volume.owner) for volume in graph.facts(VolumeFact) if volume.handle]
    times = Counter(handle for handle, _ in given)
    shared = [(handle, owner) for handle, owner in given if times[handle] > 1]
    first: dict[tuple[str, str], ObjectSummary] = {}
    found = []
    for handle, owner in sorted(shared, key=lambda pair: pair[1].order):
        other = first.setdefault(handle, owner)
        if other is not owner:
            message = f'The handle "{handle[1]}" is also that of {other.id}.'
            hint = "Give each volume a handle of its own; rename one of the specs."
            found.append(about(owner, _CODE, ("spec", "csi", "volumeHandle"), message, hint))
    return found
