"""What became of a spec since the last run: small values for the checks across specs, like its facts.

They are no part of the facts, since those of a spec stay as they are until it is compiled anew, while a change is over
with the next run.
"""

from collections.abc import Mapping
from typing import NamedTuple

from stowplan.compiler.checks.history import immutability, reruns
from stowplan.compiler.checks.history.edits import Edits, edits_of
from stowplan.compiler.checks.history.reruns import Run
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Objects
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


class Changes(NamedTuple):
    """The changes of one spec's objects, or of those that no spec made: findings, edits of the spec and new runs.

    A finding's own edits are not known before all specs are: see `history`.
    """

    spec: SpecId | None = None
    edits: Edits = Edits()
    findings: tuple[ObjectFinding, ...] = ()
    runs: tuple[Run, ...] = ()


def changes_of(spec: SpecId | None, objects: Objects, previous: Mapping[ObjectId, Json]) -> Changes:
    """What changed in the objects of a spec. `previous` holds at least those of them that the last run wrote."""
    edits = edits_of(spec, objects, previous) if spec and previous else Edits()
    runs = tuple(reruns.new_runs(spec, objects, previous)) if spec else ()
    return Changes(spec, edits, tuple(immutability.check(objects, previous)), runs)
