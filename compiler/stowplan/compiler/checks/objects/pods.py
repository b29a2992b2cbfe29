"""The pods in a manifest."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    **{(kind.api_version, kind.kind): kind.pods for kind in ENGINE_KINDS if kind.pods is not None},
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "ReplicaSet"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("v1", "Pod"): (),
    ("v1", "PodTemplate"): ("template",),
    ("v1", "ReplicationController"): ("spec", "template"),
}
"""Path in the object to its pod templates, by apiVersion and kind; `*` stands for every entry of a list."""

POD_KINDS = frozenset(kind for _, kind in _TEMPLATES)
"""Names of the kinds that may have pods."""
_CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


class Pod(NamedTuple):
    """A pod template, or a Pod itself; missing parts are empty.

    `path` is its path in the object, `spec_path` that of its `spec`.
    """

    path: FieldPath
    spec_path: FieldPath
    metadata: Json
    labels: Json
    spec: Json
    volumes: list[Json]
    containers: tuple[tuple[FieldPath, Json], ...]
    """All containers with their paths in the object, init containers first."""


def pods_of(body: Json) -> tuple[Pod, ...]:
    """Return the pod templates of an object of a built-in kind or of a kind of an engine; for other kinds, none."""
    path = _TEMPLATES.get((str(body.get("apiVersion")), str(body.get("kind"))))
    if path is None:
        return ()
    if "*" not in path:
        return (_pod(mapping(body, *path), path),)
    star = path.index("*")
    home, below = path[:star], path[star + 1 :]
    return tuple([_pod(mapping(item, *below), (*home, index, *below)) for index, item in enumerate(items(body, *home))])


def images_of(body: Json) -> list[str]:
    """Return the image of each container in the pods of any object, as written; one may come several times."""
    found = (container.get("image") for pod in pods_anywhere(body) for _, container in pod.containers)
    return [str(image) for image in found if image]


def account_of(pod: Pod) -> tuple[FieldPath, str]:
    """Return the path of the field that names the service account of a pod, and the name; empty if none is named.

    The API server of Kubernetes reads the deprecated `serviceAccount` only if `serviceAccountName` is not given
    (core/v1 conversion).
    """
    field = "serviceAccountName" if pod.spec.get("serviceAccountName") else "serviceAccount"
    return (*pod.spec_path, field), str(pod.spec.get(field) or "")


def pods_anywhere(body: Json) -> tuple[Pod, ...]:
    """Return the pod templates of any object, also of kinds and versions that `pods_of` does not know.

    In an unknown kind, every mapping with a list of containers and every `template.spec` counts as the spec of a pod.
    """
    return pods_of(body) or tuple(_search(body))


def _search(body: Json) -> Iterator[Pod]:
    left: list[tuple[Any, FieldPath]] = [(body, ())]
    while left:
        value, path = left.pop()
        children: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            children = [(str(key), child) for key, child in value.items()]
        elif isinstance(value, list):
            children = enumerate(value)
        for key, child in children:
            left.append((child, (*path, key)))
            is_template = key == "spec" and path[-1:] == ("template",) and isinstance(child, dict)
            if is_template or _has_containers(child):
                yield _read(mapping(value, "metadata"), child, path, (*path, key))


def _has_containers(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(field), list) for field in _CONTAINER_LISTS)


def _pod(template: Json, path: FieldPath) -> Pod:
    return _read(mapping(template, "metadata"), mapping(template, "spec"), path, (*path, "spec"))


def _read(metadata: Json, spec: Json, path: FieldPath, place: FieldPath) -> Pod:
    containers: list[tuple[FieldPath, Json]] = []
    for field in _CONTAINER_LISTS:
        if field in spec:
            containers += [((*place, field, i), container) for i, container in enumerate(items(spec, field))]
    volumes = items(spec, "volumes") if "volumes" in spec else []
    return Pod(path, place, metadata, mapping(metadata, "labels"), spec, volumes, tuple(containers))
