"""Where the parts of a Training's pods come from in its document."""

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS, MERGE_KEYS
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.native.training import TRAINER

_SPEC: FieldPath = ("spec",)
_TEMPLATE: FieldPath = (*_SPEC, "template")

_OF_TRAINER = {
    "args": ("args",),
    "command": ("command",),
    "env": ("env", "accelerator", "network"),
    "envFrom": ("envFrom",),
    "image": ("image",),
    "resources": ("resourcesPerNode", "accelerator", "network"),
    "securityContext": ("network",),
    "volumeMounts": ("datasets", "code", "shmSize", "network"),
    "workingDir": ("code",),
}
"""Fields of the spec that may give a field of the trainer, by the latter."""

_OF_POD = {
    "affinity": ("datasets",),
    "hostNetwork": ("network",),
    "nodeSelector": ("accelerator",),
    "terminationGracePeriodSeconds": ("restart",),
    "tolerations": ("accelerator",),
    "volumes": ("datasets", "code", "shmSize", "network"),
}
"""Fields of the spec that may give a field of the pod, by the latter."""

_MERGED = frozenset({*MERGE_KEYS, "envFrom", "tolerations", "topologySpreadConstraints", "volumes"})
"""Lists whose items may come from several places, so that an index in the compiled list is none in the document."""


def written(path: FieldPath, names: Mapping[str, Sequence[str]], document: Mapping[str, Any]) -> FieldPath:
    """Return the path in the document of a Training for the path of a field in its compiled pod template.

    `names` are the names of the compiled containers, by `containers` and `initContainers`. The path ends at a list to
    which several sources add items, and at the spec for what only Stowplan sets.
    """
    spec = document.get("spec") or {}
    match path:
        case ("spec", str(field), int(index), *rest) if field in CONTAINER_LISTS:
            return _of_container(field, names[field][index], tuple(rest), spec)
        case ("spec", str(field), *rest):
            return _of_template(("spec",), (field, *rest), spec) or _first(spec, _OF_POD.get(field, ()), rest)
        case _:
            return _of_template((), path, spec) or _first(spec, ("network",), ())


def _of_container(field: str, name: str, rest: FieldPath, spec: Mapping[str, Any]) -> FieldPath:
    own = _at(spec, ("template", "spec", field)) or ()
    for index, container in enumerate(own):
        if container.get("name") == name:
            place = ("spec", field, index)
            found = _of_template(place, rest, spec)
            if found or name != TRAINER:
                return found or (*_TEMPLATE, *place)
    return _first(spec, _OF_TRAINER.get(str(rest[0]), ()) if rest and name == TRAINER else (), rest[1:])


def _of_template(home: FieldPath, path: FieldPath, spec: Mapping[str, Any]) -> FieldPath | None:
    """Return the path of a field of the user's template at `path` below `home`; None if the template lacks it."""
    kept = path[:1] if path and path[0] in _MERGED else path
    return (*_TEMPLATE, *home, *kept) if _at(spec, ("template", *home, *kept)) is not None else None


def _first(spec: Mapping[str, Any], fields: Sequence[str], rest: Sequence[str | int]) -> FieldPath:
    """Return the path of the first of the `fields` that the spec has, with `rest` if it is there too."""
    for field in fields:
        if spec.get(field) is not None:
            whole = (field, *rest)
            return (*_SPEC, *(whole if field not in _MERGED and _at(spec, whole) is not None else (field,)))
    return _SPEC


def _at(value: Any, path: FieldPath) -> Any:
    """Return the value at a path in plain data; None if there is none."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value
