"""Where a field of a compiled training pod stands in the pod template of the user's document."""

from stowplan.compiler.checks.objects import Object
from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library.builders.await_pod import CONTAINER
from stowplan.library.builders.training_pod import MERGE_KEYS
from stowplan.library.labels import ROLE
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_TEMPLATES = {"PaddleJob": ("spec", "{role}", "template")}
"""Path of a role's template in a document, by its kind."""


def in_template(path: FieldPath, obj: Object, document: Json) -> FieldPath | None:
    """The path in `document` of a field of `obj`; None for one that is not from a template."""
    spec = obj.output.spec
    for pod in obj.pods if spec and spec.kind in _TEMPLATES else ():
        role = mapping(pod.metadata, "labels").get(ROLE)
        if spec and role and len(path) > len(pod.path) and path[: len(pod.path)] == pod.path:
            home = tuple(part.format(role=role) for part in _TEMPLATES[spec.kind])
            field = _field(path[len(pod.path) :], pod, mapping(document, *home))
            return (*home, *field) if field else None
    return None


def _field(path: FieldPath, pod: Pod, template: Json) -> FieldPath | None:
    """The field by its path in the template: a helper's containers stand behind the user's init containers."""
    match path:
        case ("spec", "containers", int(), *_) if _is_helper(pod):
            return None
        case ("spec", "initContainers", int(place), *rest):
            own = len(items(template, "spec", "initContainers"))
            shifted = ("initContainers", place) if place < own else ("containers", place - own)
            return _as_written(("spec", *shifted, *rest))
        case _:
            return _as_written(path)


def _is_helper(pod: Pod) -> bool:
    return any(container.get("name") == CONTAINER for container in items(pod.spec, "containers"))


def _as_written(path: FieldPath) -> FieldPath:
    """Up to a list that we added to, since places in it are others now."""
    match path:
        case ("spec", "containers" | "initContainers", int(), str(field), *_) if field in MERGE_KEYS:
            return path[:4]
        case _:
            return path
