"""What Pod Security reads of a pod: little of it, and the same for most pods that one kind of spec compiles to.

So what is found wrong with a shape is remembered, instead of trying thirty rules on every pod again.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

import orjson

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json

Told = TypeVar("Told")

_OF_POD = ("hostIPC", "hostNetwork", "hostPID", "os", "securityContext")
_OF_CONTAINER = ("lifecycle", "livenessProbe", "ports", "readinessProbe", "securityContext", "startupProbe")


def remembered(told: Callable[[Pod], Told], pod: Pod) -> Told:
    """What a function tells of a pod, or has told of one of the same shape. It may look at nothing else."""
    shape = _shape_of(pod)
    return told(pod) if shape is None else cast("Told", _of_shape(told, shape))


@lru_cache(maxsize=1024)
def _of_shape(told: Callable[[Pod], Any], shape: bytes) -> Any:
    return told(_pod_of(shape))


def _shape_of(pod: Pod) -> bytes | None:
    """What the rules may look at, as a key; None for a pod with numbers or texts that JSON does not have."""
    containers = [(path, _picked(container, _OF_CONTAINER)) for path, container in pod.containers]
    volumes = [list(volume) for volume in pod.volumes]
    annotations = mapping(pod.metadata, "annotations")
    try:
        return orjson.dumps((pod.path, pod.spec_path, annotations, _picked(pod.spec, _OF_POD), volumes, containers))
    except TypeError:
        return None


def _pod_of(shape: bytes) -> Pod:
    """A pod with what the shape has, and nothing else."""
    path, spec_path, annotations, spec, volumes, containers = orjson.loads(shape)
    named = [dict.fromkeys(volume, "") for volume in volumes]
    found = tuple((tuple(place), container) for place, container in containers)
    metadata = {"annotations": annotations}
    return Pod(tuple(path), tuple(spec_path), metadata, {}, {**spec, "volumes": named}, named, found)


def _picked(mapping_: Json, fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: mapping_[field] for field in fields if field in mapping_}
