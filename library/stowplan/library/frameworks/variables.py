"""Environment variables in the form that a container has them."""

from stowplan.library.manifest import Json
from stowplan.library.values import labels

_INDEX = f"metadata.annotations['{labels.JOB_INDEX}']"


def variable(name: str, value: str) -> Json:
    """Return an environment variable. `$(NAME)` in `value` is replaced by an earlier variable of the container."""
    return {"name": name, "value": value}


def index_variable(name: str) -> Json:
    """Return an environment variable with the pod's index among those of its role, from 0 on."""
    return field_variable(name, _INDEX)


def field_variable(name: str, path: str) -> Json:
    """Return an environment variable whose value is the pod's field at `path`; it is empty if the pod lacks it."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
