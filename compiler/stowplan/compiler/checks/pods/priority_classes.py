"""Do users' jobs name a priority class that is for components of the cluster?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects, is_plain
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.platform.platform import Platform

_CODE = "SP617"
_FIELD = "priorityClassName"
_OF_THE_CLUSTER = "system-"
"""Prefix of the priority classes that Kubernetes reserves for itself; their pods evict all others."""


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for users' pods and pod groups with a forbidden priority class.

    Forbidden are classes `system-*`, and if `policy.priorityClasses` of the platform lists any, all others.
    """
    allowed = platform.policy.priority_classes
    found = []
    for obj in (*objects.with_pods, *objects.of_kind("PodGroup")):
        for path, name in _named(obj, platform):
            if name.startswith(_OF_THE_CLUSTER):
                message = f'The priority class "{name}" is for components of the cluster; its pods evict all others.'
                found.append(about(obj, _CODE, path, message, "Choose another class."))
            elif allowed and name not in allowed:
                message = f'Found the priority class "{name}"; the platform allows {", ".join(allowed)}.'
                hint = "Use one of them, or add it to `policy.priorityClasses` in the platform file."
                found.append(about(obj, _CODE, path, message, hint))
    return found


def _named(obj: Object, platform: Platform) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path and value of each field of the object by which a user names a priority class."""
    for pod in obj.users_pods(platform):
        if name := pod.spec.get(_FIELD):
            yield (*pod.spec_path, _FIELD), str(name)
    training = obj.spec is not None and obj.spec.kind in TRAINING_KINDS
    if not obj.pods and (training or is_plain(obj, platform)) and (name := mapping(obj.body, "spec").get(_FIELD)):
        yield ("spec", _FIELD), str(name)
