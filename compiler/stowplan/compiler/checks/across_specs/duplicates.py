"""Is each object written once?"""

from stowplan.compiler.checks.facts.facts import Fact
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.schema.meta import ObjectId


def check(world: World) -> list[ObjectFinding]:
    """One finding for each object whose group, kind, namespace and name an earlier one has.

    The version is no part of the identity, as in the API server. Argo CD would warn and let the last one win.
    """
    first: dict[ObjectId, Fact] = {}
    found = []
    for fact in world.repeated():
        other = first.setdefault(fact.id, fact)
        if other is not fact:
            message = f"The object is compiled twice: {_origin(other)} and {_origin(fact)} both make it."
            hint = "Rename one of the two, or remove it."
            found.append(about(fact, "SP503", ("metadata", "name"), message, hint))
    return found


def _origin(fact: Fact) -> str:
    return str(fact.spec) if fact.spec else fact.source or "the platform file"
