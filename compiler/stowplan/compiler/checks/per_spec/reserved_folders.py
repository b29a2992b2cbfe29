"""Does an object of a user land in a folder that Stowplan writes for Argo CD?"""

from collections.abc import Iterable

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.diagnostics.locations import is_platform_file
from stowplan.compiler.output import paths


def check(objects: Iterable[Object]) -> list[ObjectFinding]:
    """Return a finding for each plain object or object of an extension in a namespace named like a folder of Stowplan.

    The root Application would sync the objects in `argocd/`, and two Applications would share the folder.
    """
    return [_reserved(obj) for obj in objects if obj.spec is None and _is_reserved(obj)]


def _is_reserved(obj: Object) -> bool:
    folder = obj.output.path.partition("/")[0]
    return folder in (paths.ARGOCD, paths.CRDS) and not is_platform_file(obj.source)


def _reserved(obj: Object) -> ObjectFinding:
    message = (
        f"The output folder {obj.id.namespace} holds other things, so no object can be in a namespace of that name."
    )
    return about(obj, "SP507", ("metadata", "namespace"), message, "Choose another namespace.")
