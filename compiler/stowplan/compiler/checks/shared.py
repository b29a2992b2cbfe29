"""All that can only be said of the objects of all specs together."""

from collections.abc import Mapping, Sequence

from stowplan.compiler.checks.across_specs import applications, dangling, duplicates, files, volumes, waves
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.history import history
from stowplan.compiler.checks.history.changes import Changes
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.per_spec import protection, selectors
from stowplan.compiler.checks.pods import accounts, namespace_levels
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform


def check(
    world: World, changes: Sequence[Changes], platform: Platform, previous: Mapping[ObjectId, Json]
) -> list[ObjectFinding]:
    """What is wrong between objects, and with what the last run wrote.

    `world` holds the facts of all specs. `changes` are those of specs that were compiled anew; one that stayed as it
    was has none. `previous` holds at least what the last run wrote and this one does not.
    """
    return [
        *duplicates.check(world),
        *files.check(world),
        *dangling.check(world),
        *selectors.check_pods(world),
        *volumes.check(world),
        *protection.check_applications(world),
        *waves.check(world),
        *applications.check(world),
        *namespace_levels.check(world, platform),
        *accounts.check_emitted(world, platform),
        *history.check(world, changes, previous, platform),
    ]
