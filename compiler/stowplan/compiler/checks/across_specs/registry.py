"""All checks across specs. A new check is a module in this package and a line in `CHECKS`.

A check that needs more than the summaries of objects collects facts. Its module defines the types of these facts, which
are named tuples, lists the types in `FACTS`, and makes the facts in `collect` from the objects of one spec.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from stowplan.compiler.checks.across_specs import (
    agent_accounts,
    application_size,
    dangling_references,
    duplicates,
    held_syncs,
    missing_definitions,
    namespace_levels,
    project_kinds,
    unmatched_selectors,
    volumes,
    waves,
)
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph


def _nothing(_: SpecObjects) -> tuple[()]:
    return ()


class CrossSpecCheck(NamedTuple):
    """One check: `check` returns findings about all objects, `collect` the facts of one spec, `facts` their types."""

    check: Callable[[ObjectGraph], Iterable[ObjectFinding]]
    collect: Callable[[SpecObjects], Iterable[tuple[Any, ...]]] = _nothing
    facts: tuple[type, ...] = ()


CHECKS = (
    CrossSpecCheck(duplicates.check),
    CrossSpecCheck(duplicates.check_paths),
    CrossSpecCheck(dangling_references.check, dangling_references.collect, dangling_references.FACTS),
    CrossSpecCheck(unmatched_selectors.check, unmatched_selectors.collect, unmatched_selectors.FACTS),
    CrossSpecCheck(volumes.check, volumes.collect, volumes.FACTS),
    CrossSpecCheck(held_syncs.check, held_syncs.collect, held_syncs.FACTS),
    CrossSpecCheck(waves.check),
    CrossSpecCheck(application_size.check),
    CrossSpecCheck(project_kinds.check, project_kinds.collect, project_kinds.FACTS),
    CrossSpecCheck(missing_definitions.check, missing_definitions.collect, missing_definitions.FACTS),
    CrossSpecCheck(namespace_levels.check, namespace_levels.collect, namespace_levels.FACTS),
    CrossSpecCheck(agent_accounts.check),
)
