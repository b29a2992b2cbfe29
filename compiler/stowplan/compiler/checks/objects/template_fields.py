"""For a field of a compiled training pod, the path of the same field in the pod template of the user's document."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.builders.pods import waits
from stowplan.library.builders.pods.await_pod import CONTAINER
from stowplan.library.builders.pods.training_pod import MERGE_KEYS
from stowplan.library.dialects.training import places as training_places
from stowplan.library.dialects.training_job.fields import written
from stowplan.library.manifest import Json
from stowplan.library.values.labels import ROLE
from stowplan.schema.diagnostics import FieldPath


class Template(NamedTuple):
    """What must be known of a role's compiled pod to find its fields in the user's template.

    `path` is the path of the pod template in the object. The containers are given by their names.
    """

    path: FieldPath
    role: str
    init_containers: tuple[str, ...]
    containers: tuple[str, ...]
    waits: int
    """Number of init containers that wait, for a dataset or for peers. They are the first ones."""


def templates_of(obj: Object) -> tuple[Template, ...]:
    """Return one template for each role's pod in an object of a training job."""
    return tuple([_template(pod, str(role)) for pod in obj.training_pods if (role := pod.labels.get(ROLE))])


def in_template(path: FieldPath, templates: Sequence[Template], kind: str, document: Json) -> FieldPath | None:
    """Return the path in the user's document for a field of a compiled object.

    `path` is that of the field in the object, `templates` are the pods of the object. `document` is the user's spec, of
    the kind `kind`. Return None for a field that does not come from a pod template.
    """
    for pod in templates:
        if len(path) > len(pod.path) and path[: len(pod.path)] == pod.path:
            return _in_document(path[len(pod.path) :], pod, document, kind)
    return None


def _template(pod: Pod, role: str) -> Template:
    init = items(pod.spec, "initContainers")
    before = sum(1 for each in init if waits.is_ours(each))
    return Template(pod.path, role, _names(init), _names(items(pod.spec, "containers")), before)


def _names(containers: Sequence[Json]) -> tuple[str, ...]:
    return tuple([str(container.get("name")) for container in containers])


def _in_document(path: FieldPath, pod: Template, document: Json, kind: str) -> FieldPath | None:
    role = pod.role
    if kind == "Training":
        ours = path[:2] == ("spec", "initContainers") and len(path) > 2 and int(path[2]) < pod.waits
        names = {"containers": pod.containers, "initContainers": pod.init_containers}
        return None if ours else training_places.written(path, names, document)
    if kind == "TrainingJob":
        own = _of_role(path, pod)
        return written(own, role) if own else None
    home = ("spec", role, "template") if kind == "PaddleJob" else _entry(document, role)
    field = _field(path, pod, _at(document, home)) if home else None
    return (*home, *field) if home and field else None


def _entry(document: Json, role: str) -> FieldPath | None:
    """Return the path of a role's pod template in an MxJob; None if the job has no such role."""
    for index, entry in enumerate(items(document, "spec", "replicaSpecs")):
        if str(entry.get("mxReplicaType") or "WORKER").lower() == role:
            return ("spec", "replicaSpecs", index, "template")
    return None


def _at(document: Json, home: FieldPath) -> Json:
    node: Any = document
    for part in home:
        node = node[int(part)] if isinstance(node, list) else mapping(node).get(str(part))
    return mapping(node)


def _of_role(path: FieldPath, pod: Template) -> FieldPath | None:
    """Return the path in the pod as if the role's container were the only one.

    None for a field of a container that Stowplan adds.
    """
    match path:
        case ("spec", "containers" | "initContainers" as field, int(place), *rest):
            names = pod.containers if field == "containers" else pod.init_containers
            return ("spec", "containers", 0, *rest) if names[place] == pod.role else None
        case _:
            return path


def _field(path: FieldPath, pod: Template, template: Json) -> FieldPath | None:
    """Return the path of a compiled pod's field in the user's template; None if the template has no such field.

    The compiled init containers are, in this order: those that wait, those of the template, and in a
    helper's pod the containers of the template.
    """
    match path:
        case ("spec", "containers", int(), *_) if CONTAINER in pod.containers:
            return None
        case ("spec", "initContainers", int(index), *_) if index < pod.waits:
            return None
        case ("spec", "initContainers", int(index), *rest):
            own, place = len(items(template, "spec", "initContainers")), index - pod.waits
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
