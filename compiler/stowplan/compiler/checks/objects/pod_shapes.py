"""A memo for the rules of Pod Security.

The rules read few fields of a pod, and most pods of one kind of spec agree in these fields: they have one shape. So
the result for a shape is remembered, instead of applying thirty rules to every pod.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

import orjson

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json

Result = TypeVar("Result")

_OF_POD = ("hostIPC", "hostNetwork", "hostPID", "os", "securityContext")
_OF_CONTAINER = ("lifecycle", "livenessProbe", "ports", "readinessProbe", "securityContext", "startupProbe")


def remembered(rules: Callable[[Pod], Result], pod: Pod) -> Result:
    """Return the result of `rules` for a pod, perhaps remembered from an earlier pod of the same shape.

    `rules` is a function at module level without side effects. It may read only the paths and annotations of the pod,
    the field names of its volumes, `hostIPC`, `hostNetwork`, `hostPID`, `os` and `securityContext` of its spec, and
    `lifecycle`, `ports`, `securityContext` and the probes of its containers: the pod it gets may lack all others.
    """
    shape = _shape_of(pod)
    return rules(pod) if shape is None else cast("Result", _of_shape(rules, shape))


@lru_cache(maxsize=1024)
def _of_shape(rules: Callable[[Pod], Any], shape: bytes) -> Any:
    return rules(_pod_of(shape))


def _shape_of(pod: Pod) -> bytes | None:
    """Return the fields that the rules may read, as JSON; None for a pod with values that JSON cannot express."""
    containers = [(path, _picked(container, _OF_CONTAINER)) for path, container in pod.containers]
    volumes = [list(volume) for volume in pod.volumes]
    annotations = mapping(pod.metadata, "annotations")
    try:
        return orjson.dumps((pod.path, pod.spec_path, annotations, _picked(pod.spec, _OF_POD), volumes, containers))
    except TypeError:
        return None


def _pod_of(shape: bytes) -> Pod:
    """Return a pod with only the fields of the shape; values of volumes are empty strings."""
    path, spec_path, annotations, spec, volumes, containers = orjson.loads(shape)
    named = [dict.fromkeys(volume, "") for volume in volumes]
    found = tuple((tuple(place), container) for place, container in containers)
    metadata = {"annotations": annotations}
    return Pod(tuple(path), tuple(spec_path), metadata, {}, {**spec, "volumes": named}, named, found)


def _picked(mapping_: Json, fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: mapping_[field] for field in fields if field in mapping_}
