"""Checks of the Kubernetes values in a DataCube that a user's Python program gives to a construct.

The CLI checks these values against the official schemas, which such a program does not have. Lowering only relies on
the checks in this module.
"""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.parse_model import embedded

_CORE = "io.k8s.api.core.v1"


_Fields = dict[str, "_Fields | type[list[Json]]"]
"""Optional fields by name: for a mapping its own fields, for a list the type `list`."""

_FIELDS: Mapping[str, _Fields] = {
    f"{_CORE}.EnvVar": {"valueFrom": {"secretKeyRef": {}, "configMapKeyRef": {}}},
    f"{_CORE}.PersistentVolumeClaimTemplate": {
        "metadata": {"labels": {}, "annotations": {}},
        "spec": {"resources": {"requests": {}}, "accessModes": list},
    },
    f"{_CORE}.PodSecurityContext": {"seccompProfile": {}},
    f"{_CORE}.ResourceRequirements": {"requests": {}, "limits": {}},
}
_REQUIRED: Mapping[str, str] = {
    f"{_CORE}.EnvVar": "name",
    f"{_CORE}.ConfigMapKeySelector": "key",
    f"{_CORE}.SecretKeySelector": "key",
}
"""The field that a value must have, by definition in the official schema. It must be a string."""

_HINT = "Write it as Kubernetes has it."


def findings(model: DataCube) -> list[Finding]:
    """Return one finding for each Kubernetes value that is no mapping, list or string where lowering needs one."""
    found: list[Finding] = []
    for path, definition, value in embedded(model):
        key = _REQUIRED.get(definition)
        if key and not isinstance(value.get(key), str):
            found.append(finding("SP213", (*path, key), f"`{key}` must be given, as a string.", _HINT))
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
