"""Can each object be a file of its own?"""

from dataclasses import replace

from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.output import paths


def check(world: World) -> list[ObjectFinding]:
    """Objects whose paths are unsafe or clash; of two that are the same object, which `duplicates` reports, one."""
    facts = {fact.id: fact for fact in world}
    return [
        ObjectFinding(fact.id, replace(found, path=("metadata", "name")), fact.spec, fact.source)
        for fact, found in paths.problems([*facts.values()])
    ]
