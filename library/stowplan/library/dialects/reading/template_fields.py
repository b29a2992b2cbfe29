"""Fields of a role's compiled pod in the pod template from which the role is made."""

from typing import Any

from stowplan.library.builders.pods.await_pod import CONTAINER
from stowplan.library.builders.pods.training_pod import MERGE_KEYS
from stowplan.library.dialects.reading.api import RolePod
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath


def written(path: FieldPath, pod: RolePod, template: Any, home: FieldPath) -> FieldPath | None:
    """Return the path in the document for the path of a field in a compiled pod template; None for one of ours.

    `template` is the pod template at the path `home` of the document. Fields of containers that Stowplan adds are ours.
    Whether the template has any other field is not checked.
    """
    field = _field(path, pod, template if isinstance(template, dict) else {})
    return (*home, *field) if field else None


def _field(path: FieldPath, pod: RolePod, template: Json) -> FieldPath | None:
    """Return the path in the template.

    The compiled init containers are, in this order: those that wait, those of the template, and in a
    helper's pod the containers of the template.
    """
    match path:
        case ("spec", "containers", int(), *_) if CONTAINER in pod.containers:
            return None
        case ("spec", "initContainers", int(index), *_) if index < pod.waits:
            return None
        case ("spec", "initContainers", int(index), *rest):
            own, place = len((template.get("spec") or {}).get("initContainers") or ()), index - pod.waits
            shifted = ("initContainers", place) if place < own else ("containers", place - own)
            return _as_written(("spec", *shifted, *rest))
        case _:
            return _as_written(path)


def _as_written(path: FieldPath) -> FieldPath:
    """Return the path, cut after a list that Stowplan adds items to, because indices in such a list differ."""
    match path:
        case ("spec", "containers" | "initContainers", int(), str(field), *_) if field in MERGE_KEYS:
            return path[:4]
        case _:
            return path
