"""Does each claim fit the volume it names, and is each volume its own?"""

from collections.abc import Iterator

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import mapping
from stowplan.library.manifest import Json
from stowplan.library.quantities import larger
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_CODE = "SP515"


def check(objects: Objects) -> list[ObjectFinding]:
    """What the volume controller compares before it binds a claim to the volume that it names.

    Class, mode, access modes, size and claimRef; a pair that does not fit stays Pending (Kubernetes 1.34
    `FindMatchingVolume`, `checkVolumeSatisfyClaim`). No two volumes may have one handle: a node mounts a handle once.
    """
    found = [finding for obj in objects.of_kind("PersistentVolumeClaim") for finding in _pair(obj, objects)]
    return found + _handles(objects)


def _pair(obj: Object, objects: Objects) -> Iterator[ObjectFinding]:
    claim = mapping(obj.body, "spec")
    own = obj.id
    other = objects.find(ObjectId("", "PersistentVolume", "", str(claim.get("volumeName", ""))))
    if other is None:
        return
    volume = mapping(other.body, "spec")
    where = f"PersistentVolume {other.id.name}"
    for path, found, wanted in _differences(claim, volume):
        message = f"Found {found}, but {where} has {wanted}; the claim would never be bound."
        yield about(obj, _CODE, path, message, "Make both alike.")
    reference = mapping(volume, "claimRef")
    if reference and (reference.get("namespace"), reference.get("name")) != (own.namespace, own.name):
        bound = f"{reference.get('namespace')}/{reference.get('name')}"
        message = f"{where} is reserved for the claim {bound}."
        yield about(obj, _CODE, ("spec", "volumeName"), message, "Name another volume, or change its claimRef.")


def _differences(claim: Json, volume: Json) -> Iterator[tuple[FieldPath, str, str]]:
    if "storageClassName" not in claim:
        yield ("spec", "storageClassName"), "no class, which the cluster may fill in", f'"{_class(volume)}"'
    elif _class(claim) != _class(volume):
        yield ("spec", "storageClassName"), f'"{_class(claim)}"', f'"{_class(volume)}"'
    if _mode(claim) != _mode(volume):
        yield ("spec", "volumeMode"), f'"{_mode(claim)}"', f'"{_mode(volume)}"'
    missing = sorted(set(claim["accessModes"]) - set(volume["accessModes"]))
    if missing:
        yield ("spec", "accessModes"), ", ".join(missing), ", ".join(volume["accessModes"])
    wanted = mapping(claim, "resources", "requests").get("storage")
    size = mapping(volume, "capacity").get("storage")
    if larger(wanted, size):
        yield ("spec", "resources", "requests", "storage"), str(wanted), str(size)


def _class(spec: Json) -> str:
    return str(spec.get("storageClassName") or "")


def _mode(spec: Json) -> str:
    return str(spec.get("volumeMode") or "Filesystem")


def _handles(objects: Objects) -> list[ObjectFinding]:
    first: dict[tuple[str, str], Object] = {}
    found = []
    for obj in objects.of_kind("PersistentVolume"):
        csi = mapping(obj.body, "spec", "csi")
        if not csi:
            continue
        other = first.setdefault((csi["driver"], csi["volumeHandle"]), obj)
        if other is not obj:
            message = f'The handle "{csi["volumeHandle"]}" is also that of {other.id}.'
            hint = "Give each volume a handle of its own; rename one of the specs."
            found.append(about(obj, _CODE, ("spec", "csi", "volumeHandle"), message, hint))
    return found
