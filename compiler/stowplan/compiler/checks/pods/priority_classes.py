"""Do users' jobs name a priority class that is for components of the cluster?"""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects, is_plain
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.engines.gang.kueue import PRIORITY
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.platform.platform import Platform

_CODE = "SP617"
_FIELD = "priorityClassName"
_OF_THE_CLUSTER = "system-"
"""Prefix of the priority classes that Kubernetes reserves for itself; their pods evict all others."""


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for users' pods and pod groups with a forbidden priority class.

    Forbidden are classes `system-*`, and if `policy.priorityClasses` of the platform lists any, those it does not list.
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
    return [*found, *_of_queues(objects, platform)]


def _of_queues(objects: Objects, platform: Platform) -> Iterator[ObjectFinding]:
    """Yield findings for users' Jobs and JobSets whose priority in Kueue is not among those that the platform allows.

    Kueue orders them by it, and evicts other jobs for it, whatever the priority class of their pods.
    """
    allowed = platform.policy.priority_classes
    for obj in objects.of_kind("Job", "JobSet") if allowed else ():
        name = mapping(obj.body, "metadata", "labels").get(PRIORITY)
        if name and name not in allowed and (_trains(obj) or is_plain(obj, platform)):
            message = f'Found the priority class "{name}" of Kueue; the platform allows {", ".join(allowed)}.'
            hint = "Use one of them, or add it to `policy.priorityClasses` in the platform file."
            found = about(obj, _CODE, ("metadata", "labels", PRIORITY), message, hint)
            yield replace(found, edits=(("spec", "scheduling", "priority"),)) if obj.spec else found


def _named(obj: Object, platform: Platform) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path and value of each field of the object by which a user names a priority class."""
    for pod in obj.users_pods(platform):
        if name := pod.spec.get(_FIELD):
            yield (*pod.spec_path, _FIELD), str(name)
    if not obj.pods and (_trains(obj) or is_plain(obj, platform)) and (name := mapping(obj.body, "spec").get(_FIELD)):
        yield ("spec", _FIELD), str(name)


def _trains(obj: Object) -> bool:
    return obj.spec is not None and obj.spec.kind in TRAINING_KINDS
