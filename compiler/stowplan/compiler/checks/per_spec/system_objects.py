"""Does a spec put objects into a system namespace other than its own?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes import system_namespaces
from stowplan.schema.platform.platform import Platform


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return a finding for the first object of a spec in each system namespace that the platform does not allow.

    The namespace of the spec itself is not checked here, but in `resolve`.
    """
    first: dict[str, Object] = {}
    for obj in objects:
        if obj.spec and obj.id.namespace not in ("", obj.spec.namespace):
            first.setdefault(obj.id.namespace, obj)
    found = ((obj, system_namespaces.refused(name, platform)) for name, obj in first.items())
    return [about(obj, "SP615", ("metadata", "namespace"), *problem) for obj, problem in found if problem]
