"""Is each object written once?"""

from collections.abc import Sequence

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object
from stowplan.schema.meta import ObjectId


def check(objects: Sequence[Object]) -> list[ObjectFinding]:
    """One finding for each object whose group, kind, namespace and name an earlier one has.

    The version is no part of the identity, as in the API server. Argo CD would warn and let the last one win.
    """
    first: dict[ObjectId, Object] = {}
    found = []
    for obj in objects:
        other = first.setdefault(obj.id, obj) if obj.id.name else obj
        if other is not obj:
            message = f"The object is compiled twice: {_origin(other)} and {_origin(obj)} both make it."
            hint = "Rename one of the two, or remove it."
            found.append(about(obj, "SP503", ("metadata", "name"), message, hint))
    return found


def _origin(obj: Object) -> str:
    return str(obj.output.spec) if obj.output.spec else obj.output.source or "the platform file"
