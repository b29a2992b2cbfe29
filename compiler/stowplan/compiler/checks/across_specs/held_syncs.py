"""Would a sync option of an object hold the sync of Jobs?"""

from collections.abc import Iterator
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.per_spec.protection import HOLDING
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath

_SYNC_OPTIONS: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
_JOBS = ("CronJob", "Job")


class HoldingOption(NamedTuple):
    """A sync option that holds syncs, such as `Prune=confirm`, and the object that has it."""

    owner: ObjectSummary
    option: str


def collect(found: SpecObjects) -> Iterator[HoldingOption]:
    """Yield each sync option in an object that makes syncs wait."""
    for obj in found.objects:
        yield from (HoldingOption(obj.summary, option) for option in obj.sync_options if option in HOLDING)


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each holding option of an object whose Application also has Jobs or CronJobs.

    With `PruneLast` a sync waits for the wave of the Jobs. With `Prune=confirm` every later sync waits for a person
    (Argo CD 3.x, gitops-engine).
    """
    held = graph.facts(HoldingOption)
    with_jobs = {each.application for kind in _JOBS for each in graph.of_kind(kind)} if held else set()
    return [_holding(*each) for each in held if each.owner.application in with_jobs]


def _holding(owner: ObjectSummary, option: str) -> ObjectFinding:
    message = f"{option} would hold the sync of the Jobs of this Application."
    return about(owner, "SP535", _SYNC_OPTIONS, message, f"Remove {option}.")
