"""All checks across specs. A new check is a module in this package and a line in `CHECKS`.

A check that needs more than the summaries of objects collects facts. Its module defines the types of these facts, which
are named tuples, and makes the facts in `collect` from the objects of one spec.
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
    """One check across specs.

    `collect` returns the facts of one spec. It is called once for each, perhaps in another process. After that, `check`
    is called once with all objects and facts, and returns the findings.
    """

    check: Callable[[ObjectGraph], Iterable[ObjectFinding]]
    collect: Callable[[SpecObjects], Iterable[tuple[Any, ...]]] = _nothing


CHECKS = (
    CrossSpecCheck(duplicates.check),
    CrossSpecCheck(duplicates.check_paths),
    CrossSpecCheck(dangling_references.check, dangling_references.collect),
    CrossSpecCheck(unmatched_selectors.check, unmatched_selectors.collect),
    CrossSpecCheck(volumes.check, volumes.collect),
    CrossSpecCheck(held_syncs.check, held_syncs.collect),
    CrossSpecCheck(waves.check),
    CrossSpecCheck(application_size.check),
    CrossSpecCheck(project_kinds.check, project_kinds.collect),
    CrossSpecCheck(missing_definitions.check, missing_definitions.collect),
    CrossSpecCheck(namespace_levels.check, namespace_levels.collect),
    CrossSpecCheck(agent_accounts.check),
)
