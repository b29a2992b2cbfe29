"""The field of a TrainingJob from which each field of its pods is built."""

from collections.abc import Mapping

from stowplan.library.dialects.reading.api import RolePod
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_OF_CONTAINERS: Mapping[str, str] = {
    "command": "entrypoint",
    "env": "envs",
    "lifecycle": "pre_stop_cmd",
    "livenessProbe": "liveness_probe",
    "readinessProbe": "readiness_probe",
    "resources": "resources",
    "workingDir": "workspace",
}
_OF_PODS: Mapping[str, str] = {
    "imagePullSecrets": "imagePullSecrets",
    "nodeSelector": "node_selector",
    "terminationGracePeriodSeconds": "grace_period_seconds",
    "tolerations": "tolerations",
}
_OF_ALL: Mapping[str, str] = {
    "hostNetwork": "host_network",
    "image": "image",
    "schedulerName": "schedulerName",
    "volumeMounts": "VolumeMounts",
    "volumes": "volumes",
}
"""Fields of a pod or container, and the fields of the document's `spec` that give them to all roles."""
_AS_THEY_ARE = frozenset(
    {
        "imagePullSecrets",
        "livenessProbe",
        "nodeSelector",
        "readinessProbe",
        "resources",
        "tolerations",
        "volumeMounts",
        "volumes",
    }
)
"""Fields of a pod or container whose value is the same as in the document, so that paths below them also fit."""


def of_pod(path: FieldPath, pod: RolePod, _: Json) -> FieldPath | None:
    """Return the path in the document for a path in a compiled pod; None in a container that Stowplan adds."""
    match path:
        case ("spec", "containers" | "initContainers" as field, int(place), *rest):
            names = pod.containers if field == "containers" else pod.init_containers
            return written(("spec", "containers", 0, *rest), pod.role) if names[place] == pod.role else None
        case _:
            return written(path, pod.role)


def written(path: FieldPath, role: str) -> FieldPath:
    """Return the path in the document of the field that gives the field `path` of a role's pod template.

    The container of the role must be number 0 in `path`. Return the role's path if there is no such field.
    """
    match path:
        case ("spec", "containers", 0, str(field), *rest) if field in _OF_CONTAINERS:
            return _below(("spec", role, _OF_CONTAINERS[field]), field, rest)
        case ("spec", "containers", 0, str(field), *rest) | ("spec", str(field), *rest) if field in _OF_ALL:
            return _below(("spec", _OF_ALL[field]), field, rest)
        case ("spec", str(field), *rest) if field in _OF_PODS:
            return _below(("spec", role, _OF_PODS[field]), field, rest)
        case _:
            return ("spec", role)


def _below(home: FieldPath, field: str, rest: list[str | int]) -> FieldPath:
    return (*home, *rest) if field in _AS_THEY_ARE else home
