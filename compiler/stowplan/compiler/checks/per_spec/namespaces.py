"""Is each object in a namespace where it may be?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.diagnostics.locations import is_platform_file
from stowplan.compiler.kubernetes import system_namespaces
from stowplan.compiler.output import paths
from stowplan.schema.platform.platform import Platform


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for objects of specs in system namespaces, and of users in folders that Stowplan writes.

    The root Application would sync a plain object or one of an extension in `argocd/`, and two Applications would share
    the folder.
    """
    reserved = [_reserved(obj) for obj in objects if obj.spec is None and _is_reserved(obj)]
    return [*reserved, *_of_the_system(objects, platform)]


def _is_reserved(obj: Object) -> bool:
    folder = obj.output.path.partition("/")[0]
    return folder in (paths.ARGOCD, paths.CRDS) and not is_platform_file(obj.source)


def _reserved(obj: Object) -> ObjectFinding:
    message = (
        f"The output folder {obj.id.namespace} holds other things, so no object can be in a namespace of that name."
    )
    return about(obj, "SP507", ("metadata", "namespace"), message, "Choose another namespace.")


def _of_the_system(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return a finding for the first object of a spec in each system namespace that the platform does not allow.

    The namespace of the spec itself is not checked here, but in `resolve`.
    """
    first: dict[str, Object] = {}
    for obj in objects:
        if obj.spec and obj.id.namespace not in ("", obj.spec.namespace):
            first.setdefault(obj.id.namespace, obj)
    found = ((obj, system_namespaces.refused(name, platform)) for name, obj in first.items())
    return [about(obj, "SP615", ("metadata", "namespace"), *problem) for obj, problem in found if problem]
