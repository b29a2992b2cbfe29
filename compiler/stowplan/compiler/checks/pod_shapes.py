"""What Pod Security reads of a pod: little of it, and the same for most pods that one kind of spec compiles to.

So what is found wrong with a shape is remembered, instead of trying thirty rules on every pod again.
"""

from typing import Any

import orjson

from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library.manifest import Json

_OF_POD = ("hostIPC", "hostNetwork", "hostPID", "os", "securityContext")
_OF_CONTAINER = ("lifecycle", "livenessProbe", "ports", "readinessProbe", "securityContext", "startupProbe")


def shape_of(pod: Pod) -> bytes | None:
    """What the rules may look at, as a key; None for a pod with numbers or texts that JSON does not have."""
    containers = [(path, _picked(container, _OF_CONTAINER)) for path, container in pod.containers]
    volumes = [list(volume) for volume in items(pod.spec, "volumes")]
    annotations = mapping(pod.metadata, "annotations")
    try:
        return orjson.dumps((pod.path, annotations, _picked(pod.spec, _OF_POD), volumes, containers))
    except TypeError:
        return None


def pod_of(shape: bytes) -> Pod:
    """A pod with what the shape has, and nothing else."""
    path, annotations, spec, volumes, containers = orjson.loads(shape)
    named = [dict.fromkeys(volume, "") for volume in volumes]
    found = tuple((tuple(place), container) for place, container in containers)
    return Pod(tuple(path), {"annotations": annotations}, {**spec, "volumes": named}, found)


def _picked(mapping_: Json, fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: mapping_[field] for field in fields if field in mapping_}
