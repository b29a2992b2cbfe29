"""Whether the Kubernetes values in a DataCube have the shape that lowering reads.

The compiler has checked them by the platform's Kubernetes version; specs that are made in a program come unchecked.
"""

from collections.abc import Iterator
from typing import Any

from stowplan.schema.data_cube import DataCube
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.reading import embedded

_MAPPINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "EnvVar": (("valueFrom",), ("valueFrom", "secretKeyRef"), ("valueFrom", "configMapKeyRef")),
    "PersistentVolumeClaimTemplate": (
        ("metadata",),
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec",),
        ("spec", "resources"),
        ("spec", "resources", "requests"),
    ),
    "PodSecurityContext": (("seccompProfile",),),
    "ResourceRequirements": (("requests",), ("limits",)),
}
_LISTS: dict[str, tuple[tuple[str, ...], ...]] = {"PersistentVolumeClaimTemplate": (("spec", "accessModes"),)}
_TEXTS: dict[str, tuple[str, ...]] = {
    "EnvVar": ("name",),
    "ConfigMapKeySelector": ("name", "key"),
    "SecretKeySelector": ("name", "key"),
}
"""By type, without its group: fields that are mappings or lists where they are given, and texts that must be."""

_HINT = "Write it as Kubernetes has it."


def findings(model: DataCube) -> list[Finding]:
    """One finding for each value of another shape."""
    return [
        problem
        for path, definition, value in embedded(model)
        for problem in _one(value, definition.rpartition(".")[2], path)
    ]


def _one(value: Any, kind: str, path: FieldPath) -> Iterator[Finding]:
    for key in _TEXTS.get(kind, ()):
        if not isinstance(value.get(key), str):
            yield finding("SP213", (*path, key), f"`{key}` must be given, as a text.", _HINT)
    for wanted, word, places in ((dict, "mapping", _MAPPINGS), (list, "list", _LISTS)):
        for keys in places.get(kind, ()):
            found = _at(value, keys)
            if found is not None and not isinstance(found, wanted):
                yield finding("SP213", (*path, *keys), f"`{keys[-1]}` must be a {word}.", _HINT)


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    """The value below these keys; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
