"""For a field of a compiled training pod, the path of the same field in the pod template of the user's document."""

from collections.abc import Sequence

from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import items
from stowplan.library.builders.pods import waits
from stowplan.library.dialects.reading.api import RolePod
from stowplan.library.dialects.registry import reading
from stowplan.library.manifest import Json
from stowplan.library.values.labels import ROLE
from stowplan.schema.diagnostics import FieldPath


def templates_of(obj: Object) -> tuple[RolePod, ...]:
    """Return one template for each role's pod in an object of a training job."""
    return tuple([_template(pod, str(role)) for pod in obj.training_pods if (role := pod.labels.get(ROLE))])


def in_template(path: FieldPath, templates: Sequence[RolePod], kind: str, document: Json) -> FieldPath | None:
    """Return the path in the user's document for a field of a compiled object.

    `path` is that of the field in the object, `templates` are the pods of the object. `document` is the user's spec, of
    the kind `kind`. Return None for a field that does not come from a pod template.
    """
    for pod in templates:
        if len(path) > len(pod.path) and path[: len(pod.path)] == pod.path:
            return reading(kind).field(path[len(pod.path) :], pod, document)
    return None


def _template(pod: Pod, role: str) -> RolePod:
    init = items(pod.spec, "initContainers")
    before = sum(1 for each in init if waits.is_ours(each))
    return RolePod(pod.path, role, _names(init), _names(items(pod.spec, "containers")), before)


def _names(containers: Sequence[Json]) -> tuple[str, ...]:
    return tuple([str(container.get("name")) for container in containers])
