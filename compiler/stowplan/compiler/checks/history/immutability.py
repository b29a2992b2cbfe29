"""Did a field change that Kubernetes does not let anybody change?"""

from collections.abc import Iterator, Mapping
from typing import Any

from stowplan.compiler.checks.history.edits import differences
from stowplan.compiler.checks.history.fixed_fields import fixed
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import larger
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId
from stowplan.schema.wording import describe

_CODE = "SP540"

_DATA_KEPT = "The data is kept, but only by hand can it move: "
_HINTS = {
    "PersistentVolume": f"{_DATA_KEPT}give the spec a new name, or",
    "PersistentVolumeClaim": f"{_DATA_KEPT}give the spec a new name, or",
    "Job": "Change the annotation stowplan.dev/run, so that the Job gets a new name, or",
    "StatefulSet": "Give the spec a new name, or",
}


_MADE_FROM: dict[str, FieldPath] = {"nodePublishSecretRef": ("spec", "secretRef")}
"""Names of fields of objects that come from a single field of a spec, with the path of the field in the spec."""


def check(objects: Objects, previous: Mapping[ObjectId, Json]) -> list[ObjectFinding]:
    """Return findings for fields that may not change; `previous` holds the bodies of committed objects.

    Each object is compared with the committed one of the same group, kind, namespace and name.
    """
    found: list[ObjectFinding] = []
    for obj in objects if previous else ():
        old = previous.get(obj.id)
        if old is not None and old is not obj.body:
            found += _check(obj, old)
    return found


def causes(found: ObjectFinding, fields: tuple[FieldPath, ...]) -> tuple[FieldPath, ...]:
    """Return the edited `fields` of the spec that caused a finding.

    These are the fields from which the changed field is made; if none is known, the only edited field. Empty if several
    fields were edited and the cause is not known.
    """
    made_from = [origin for part, origin in _MADE_FROM.items() if part in found.found.path]
    own = tuple(field for field in fields if any(field[: len(origin)] == origin for origin in made_from))
    return own or (fields if len(fields) == 1 else ())


def _check(obj: Object, old: Json) -> Iterator[ObjectFinding]:
    new, own = obj.body, obj.id
    for path, before, after in _changes(own, old, new):
        change = "" if own.kind == "Secret" else f" from {describe(before)} to {describe(after)}"
        message = f"The field changed{change}, but it is immutable in a {own.kind}."
        yield about(obj, _CODE, path, message, _hint(own.kind))
    for path, message in (*_resized(own, old, new), *_dropped_versions(own, old, new)):
        yield about(obj, _CODE, path, message, _hint(own.kind))
    yield from _strategy(obj, old)


def _hint(kind: str) -> str:
    begin = _HINTS.get(kind, "Give the object a new name, or")
    return f"{begin} merge a change without it, delete the {kind} from the cluster if it is there, and merge it again."


def _changes(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, Any, Any]]:
    for path, before, after in fixed((own.group, own.kind), old).changes(old, new):
        if not _elastic(own, path, new):
            yield next(differences(path, before, after), (path, before, after))


def _elastic(own: ObjectId, path: tuple[str, ...], new: Json) -> bool:
    """Whether the change is allowed because `completions` of an Indexed Job becomes equal to `parallelism`.

    These are the elastic Indexed Jobs of Kubernetes 1.31 and later.
    """
    if own.kind != "Job" or path != ("spec", "completions"):
        return False
    spec = mapping(new, "spec")
    return spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism", 1)


def _resized(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, str]]:
    """Yield path and message of a claim that shrinks, or that grows without a storage class.

    A claim can only grow, and only if its class allows that (admission plugin PersistentVolumeClaimResize).
    """
    if own.kind != "PersistentVolumeClaim":
        return
    path = ("spec", "resources", "requests", "storage")
    before, after = (mapping(body, *path[:-1]).get(path[-1]) for body in (old, new))
    if larger(before, after):
        yield path, f"The claim shrinks from {before} to {after}; a claim can only grow."
    elif larger(after, before) and mapping(new, "spec").get("storageClassName") == "":
        yield path, f"The claim grows from {before} to {after}; only a storage class can let it, and it has none."


def _dropped_versions(own: ObjectId, old: Json, new: Json) -> Iterator[tuple[FieldPath, str]]:
    """Yield path and message of each storage version that a CRD drops.

    The API server of Kubernetes refuses to drop a version in which objects may be stored.
    """
    if own.kind != "CustomResourceDefinition":
        return
    present = {version.get("name") for version in items(new, "spec", "versions")}
    for version in items(old, "spec", "versions"):
        if version.get("storage") and version.get("name") not in present:
            message = f'The version "{version.get("name")}", in which objects are stored, is gone.'
            yield ("spec", "versions"), message


_ROLLING = "RollingUpdate"
_STRATEGIES = {
    ("apps", "Deployment"): ("strategy", {"rollingUpdate"}),
    ("apps", "StatefulSet"): ("updateStrategy", {"rollingUpdate", "type"}),
}
"""By group and kind: the field of the strategy, and the fields below it of which one has to be set.

If none of them is set, the API server of Kubernetes fills in `rollingUpdate`.
"""


def _strategy(obj: Object, old: Json) -> Iterator[ObjectFinding]:
    """Yield a finding if the strategy changes from RollingUpdate while the cluster has a `rollingUpdate` filled in.

    Only a strategy RollingUpdate may have that field. If the API server filled it in, no apply removes it.
    """
    name, written = _STRATEGIES.get(obj.kind, ("", set[str]()))
    before, after = mapping(old, "spec", name), mapping(obj.body, "spec", name)
    kind, wanted = (strategy.get("type", _ROLLING) for strategy in (before, after))
    if name and kind == _ROLLING != wanted and not written & before.keys():
        message = (
            f"In the cluster, the strategy has a `rollingUpdate`, since it was {_ROLLING}; {wanted} may not have it."
        )
        hint = f"Write `{name}.rollingUpdate` and sync it; after that, take it away and change the type."
        yield about(obj, _CODE, ("spec", name, "type"), message, hint)
