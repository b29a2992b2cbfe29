"""Is each object written once?"""

from collections.abc import Sequence

from stowplan.compiler.checks.manifests import identity
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.model import Output
from stowplan.schema.meta import ObjectId


def check(outputs: Sequence[Output]) -> list[ObjectFinding]:
    """One finding for each object whose group, kind, namespace and name an earlier one has.

    The version is no part of the identity, as in the API server. Argo CD would warn and let the last one win.
    """
    first: dict[ObjectId, Output] = {}
    found = []
    for output in outputs:
        own = identity(output.manifest.body)
        if not own.name:
            continue
        other = first.setdefault(own, output)
        if other is not output:
            message = f"The object is compiled twice: {_origin(other)} and {_origin(output)} both make it."
            hint = "Rename one of the two, or remove it."
            found.append(about(output, "SP503", ("metadata", "name"), message, hint))
    return found


def _origin(output: Output) -> str:
    if output.spec:
        return str(output.spec)
    return output.source or "the platform file"
