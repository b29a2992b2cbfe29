"""Does each claim fit the volume it names, and is each volume its own?"""

from collections import Counter
from collections.abc import Iterator

from stowplan.compiler.checks.facts.facts import Claim, Fact, Volume
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import larger
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_CODE = "SP515"


def check(world: World) -> list[ObjectFinding]:
    """What the volume controller compares before it binds a claim to the volume that it names.

    Class, mode, access modes, size and claimRef; a pair that does not fit stays Pending (Kubernetes 1.34
    `FindMatchingVolume`, `checkVolumeSatisfyClaim`). No two volumes may have one handle: a node mounts a handle once.
    """
    volumes = {volume.owner.id: volume for part in world.parts for volume in part.volumes}
    found = [finding for part in world.parts for claim in part.claims for finding in _pair(claim, volumes)]
    return found + _handles(world)


def claim_of(owner: Fact, obj: Object) -> Claim | None:
    """What a claim wants, if it names its volume."""
    spec = mapping(obj.body, "spec")
    if not spec.get("volumeName"):
        return None
    wanted = mapping(spec, "resources", "requests").get("storage")
    storage_class = _class(spec) if "storageClassName" in spec else None
    return Claim(owner, str(spec["volumeName"]), storage_class, _mode(spec), tuple(spec["accessModes"]), wanted)


def volume_of(owner: Fact, obj: Object) -> Volume:
    """What a volume offers."""
    spec = mapping(obj.body, "spec")
    reference, csi = mapping(spec, "claimRef"), mapping(spec, "csi")
    bound = (reference.get("namespace"), reference.get("name")) if reference else None
    handle = (csi["driver"], csi["volumeHandle"]) if csi else None
    size = mapping(spec, "capacity").get("storage")
    return Volume(owner, _class(spec), _mode(spec), tuple(spec["accessModes"]), size, bound, handle)


def _pair(claim: Claim, volumes: dict[ObjectId, Volume]) -> Iterator[ObjectFinding]:
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


def _differences(claim: Claim, volume: Volume) -> Iterator[tuple[FieldPath, str, str]]:
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
        yield ("spec", "resources", "requests", "storage"), str(claim.size), str(volume.size)


def _class(spec: Json) -> str:
    return str(spec.get("storageClassName") or "")


def _mode(spec: Json) -> str:
    return str(spec.get("volumeMode") or "Filesystem")


def _handles(world: World) -> list[ObjectFinding]:
    given = [(volume.handle, volume.owner) for part in world.parts for volume in part.volumes if volume.handle]
    times = Counter(handle for handle, _ in given)
    shared = [(handle, owner) for handle, owner in given if times[handle] > 1]
    first: dict[tuple[str, str], Fact] = {}
    found = []
    for handle, owner in sorted(shared, key=lambda pair: pair[1].order):
        other = first.setdefault(handle, owner)
        if other is not owner:
            message = f'The handle "{handle[1]}" is also that of {other.id}.'
            hint = "Give each volume a handle of its own; rename one of the specs."
            found.append(about(owner, _CODE, ("spec", "csi", "volumeHandle"), message, hint))
    return found
