"""Fields of old documents that Stowplan drops or renames on reading, each with a finding."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, dotted, finding, without_effect
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import Model
from stowplan.schema.parse_model import model_in
from stowplan.schema.wording import WHOLE_NUMBER, mistyped

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

SET_BY_CLUSTER = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Fields of an object's metadata that only the API server of Kubernetes and controllers write."""

DEVICES = {"alpha.kubernetes.io/nvidia-gpu": "nvidia.com/gpu"}
"""Device names that Kubernetes has dropped (1.11), and the present names of the device plug-ins."""

_DEVICE_NAMES = frozenset(DEVICES)

_OLD_FINALIZERS = ("paddlepaddle.org/sampleset-", "paddlepaddle.org/samplejob-", "finalizers.paddlepaddle.org")


def modernise(model: type[CustomResource], document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return a copy of `document` in canonical spelling, without fields that only a cluster sets, and the findings.

    Each change of the copy has a finding.
    """
    copies: dict[int, Any] = {}
    data = _copied(dict(document), copies)
    found = list(_fold_keys(model, data)) if model.FOLDED_KEYS else []
    if "status" in data:
        found.append(_dropped(data, (), "status"))
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        found += [_dropped(metadata, ("metadata",), key) for key in SET_BY_CLUSTER if key in metadata]
        found += _annotations(metadata) + _finalizers(metadata)
    found += _version(model, data)
    found += [_dropped(holder, path[:-1], path[-1]) for path in model.OUTPUTS if (holder := _holds(data, path))]
    for old, new in model.MOVED:
        found += _move(data, old, new)
    for place, spelling, canonical in model.SPELLINGS:
        found += _rename(data, place, spelling, canonical)
    if any(each.__class__ is dict and not _DEVICE_NAMES.isdisjoint(each) for each in copies.values()):
        found += _devices(data.get("spec"), ("spec",))
    return data, found


def _copied(value: Any, known: dict[int, Any]) -> Any:
    """Return a deep copy of plain data. Where the data hold one object several times (YAML aliases), so does the copy.

    `known` are the copies so far, by the `id` of the original; new ones are added.
    """
    if value.__class__ is not dict and value.__class__ is not list:
        return value
    found = known.get(id(value))
    if found is None:
        if value.__class__ is dict:
            found = {k: v if v.__class__ is str else _copied(v, known) for k, v in value.items()}
        else:
            found = [v if v.__class__ is str else _copied(v, known) for v in value]
        known[id(value)] = found
    return found


def _version(model: type[CustomResource], data: dict[str, Any]) -> list[Finding]:
    given = data.get("apiVersion")
    served = model.OLD_VERSIONS.get(given) if isinstance(given, str) else None
    if served is None:
        return []
    data["apiVersion"] = served
    message = f'"{given}" is read as "{served}", the only version that was ever served.'
    return [finding("SP212", ("apiVersion",), message, "Nothing to do.")]


def _holds(data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the mapping that holds the field at `path`; None if the field does not exist."""
    node = _inside(data, path[:-1])
    return node if node is not None and path[-1] in node else None


def _inside(data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the mapping at `path`; None if there is no mapping."""
    node: Any = data
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else None


def _move(data: dict[str, Any], old: tuple[str, ...], new: tuple[str, ...]) -> list[Finding]:
    """Move the whole number at the path `old` of `data` to the path `new`, and return the findings.

    Any other value is removed, with an error.
    """
    source, target = _holds(data, old), _inside(data, new[:-1])
    if source is None or target is None:
        return []
    value = source.pop(old[-1])
    if type(value) is not int:
        return [finding("SP203", old, *mistyped(value, WHOLE_NUMBER, key=old[-1]))]
    if new[-1] in target:
        return [without_effect(old, f'"{dotted(old)}" is left out, since "{dotted(new)}" is given too.')]
    target[new[-1]] = value
    message = f'"{dotted(old)}" is read as "{dotted(new)}", its place in this kind.'
    return [finding("SP212", old, message, "Nothing to do.", anchor=Anchor.KEY)]


def _devices(node: Any, path: FieldPath) -> Iterator[Finding]:
    """Rename the devices in `DEVICES` in requests and limits of `node`, at any depth; yield a finding for each."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _devices(item, (*path, index))
    elif isinstance(node, dict):
        for key in sorted(map(str, node)):
            below = node.get(key)
            if key in ("limits", "requests") and isinstance(below, dict):
                yield from _renamed_devices(below, (*path, key))
            yield from _devices(below, (*path, key))


def _renamed_devices(amounts: dict[str, Any], path: FieldPath) -> Iterator[Finding]:
    for old, new in DEVICES.items():
        if old not in amounts:
            continue
        value, at = amounts.pop(old), (*path, old)
        if new in amounts:
            yield without_effect(at, f'"{old}" is left out, since "{new}" is given too.')
        else:
            amounts[new] = value
            message = f'"{old}" is read as "{new}", what device plug-ins call it.'
            yield finding("SP212", at, message, "Nothing to do.", anchor=Anchor.KEY)


def _dropped(holder: dict[str, Any], base: FieldPath, key: str) -> Finding:
    del holder[key]
    message = f'"{key}" is set by the cluster, so it was left out.'
    return finding("SP211", (*base, key), message, "Remove it from the file.", anchor=Anchor.KEY)


def _annotations(metadata: dict[str, Any]) -> list[Finding]:
    annotations = metadata.get("annotations")
    if not isinstance(annotations, dict) or LAST_APPLIED not in annotations:
        return []
    return [_dropped(annotations, ("metadata", "annotations"), LAST_APPLIED)]


def _finalizers(metadata: dict[str, Any]) -> list[Finding]:
    finalizers = metadata.get("finalizers")
    if not isinstance(finalizers, list):
        return []
    old = [(i, f) for i, f in enumerate(finalizers) if isinstance(f, str) and f.startswith(_OLD_FINALIZERS)]
    metadata["finalizers"] = [f for i, f in enumerate(finalizers) if (i, f) not in old]
    if not metadata["finalizers"]:
        del metadata["finalizers"]
    return [
        finding(
            "SP211",
            ("metadata", "finalizers", index),
            f'"{name}" belongs to the old operator, which is obsolete, so it was left out.',
            "Remove it here; on a live object, remove it before the old operator goes.",
        )
        for index, name in old
    ]


def _rename(data: dict[str, Any], holder: tuple[str, ...], spelling: str, canonical: str) -> list[Finding]:
    node = _inside(data, holder)
    if node is None or spelling not in node or canonical in node:
        return []
    node[canonical] = node.pop(spelling)
    message = f'"{spelling}" is read as "{canonical}", its name in this kind.'
    return [finding("SP212", (*holder, spelling), message, "Nothing to do.", anchor=Anchor.KEY)]


def _fold_keys(model: type[Model], data: dict[str, Any], path: FieldPath = ()) -> Iterator[Finding]:
    """Rename keys of `data`, in place and at any depth, to the model's case, and yield a finding for each renamed key.

    A key stays as it is if `data` also has the key in the model's case. `path` is the path of `data`.
    """
    fields, folded, nested = _fields(model)
    for key in [each for each in data if each not in fields and isinstance(each, str)]:
        known = folded.get(key.lower())
        if known and known not in data:
            data[known] = data.pop(key)
            message = f'"{key}" is read as "{known}".'
            yield finding("SP212", (*path, key), message, "Nothing to do.", anchor=Anchor.KEY)
    for key, below in nested:
        value = data.get(key)
        if isinstance(value, dict):
            yield from _fold_keys(below, value, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _fold_keys(below, item, (*path, key, index))


@cache
def _fields(model: type[Model]) -> tuple[frozenset[str], Mapping[str, str], tuple[tuple[str, type[Model]], ...]]:
    """Return the keys of a model, the keys by their lower case, and (key, model) pairs for keys that hold a model."""
    fields = {field.alias or name: model_in(field.annotation) for name, field in model.model_fields.items()}
    nested = tuple((key, below) for key, below in fields.items() if below)
    return frozenset(fields), {key.lower(): key for key in fields}, nested
