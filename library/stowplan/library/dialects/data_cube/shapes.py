"""Whether the Kubernetes values in a DataCube have the shape that lowering reads.

The compiler has checked them by the platform's Kubernetes version; specs that are made in a program come unchecked.
"""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.parse_model import embedded

_CORE = "io.k8s.api.core.v1"


_Fields = dict[str, "_Fields | type[list[Json]]"]
"""Fields that are mappings, with theirs, or lists, where they are given."""

_FIELDS: Mapping[str, _Fields] = {
    f"{_CORE}.EnvVar": {"valueFrom": {"secretKeyRef": {}, "configMapKeyRef": {}}},
    f"{_CORE}.PersistentVolumeClaimTemplate": {
        "metadata": {"labels": {}, "annotations": {}},
        "spec": {"resources": {"requests": {}}, "accessModes": list},
    },
    f"{_CORE}.PodSecurityContext": {"seccompProfile": {}},
    f"{_CORE}.ResourceRequirements": {"requests": {}, "limits": {}},
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    f"{_CORE}.EnvVar": ("name",),
    f"{_CORE}.ConfigMapKeySelector": ("name", "key"),
    f"{_CORE}.SecretKeySelector": ("name", "key"),
}
"""Texts that must be."""

_HINT = "Write it as Kubernetes has it."


def findings(model: DataCube) -> list[Finding]:
    """One finding for each value of another shape."""
    found: list[Finding] = []
    for path, definition, value in embedded(model):
        missing = [key for key in _TEXTS.get(definition, ()) if not isinstance(value.get(key), str)]
        found += [finding("SP213", (*path, key), f"`{key}` must be given, as a text.", _HINT) for key in missing]
        found += _below(value, _FIELDS.get(definition, {}), path)
    return found


def _below(value: Json, fields: _Fields, path: FieldPath) -> list[Finding]:
    found: list[Finding] = []
    for key, wanted in fields.items():
        given = value.get(key)
        if given is None:
            continue
        if not isinstance(wanted, dict):
            if not isinstance(given, list):
                found.append(finding("SP213", (*path, key), f"`{key}` must be a list.", _HINT))
        elif not isinstance(given, dict):
            found.append(finding("SP213", (*path, key), f"`{key}` must be a mapping.", _HINT))
        elif wanted:
            found += _below(given, wanted, (*path, key))
    return found
