"""The changes of one spec since the last run, without the bodies of its objects.

They are separate from the facts, because a cache can hold facts, but changes concern one run only.
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
    """The changes of the objects of one spec: edits of the spec, findings and new runs.

    With `spec` None, they concern the objects that belong to no spec. `history` adds to each finding the edits that
    caused it, because these depend on other specs too.
    """

    spec: SpecId | None = None
    edits: Edits = Edits()
    findings: tuple[ObjectFinding, ...] = ()
    runs: tuple[Run, ...] = ()


def changes_of(spec: SpecId | None, objects: Objects, previous: Mapping[ObjectId, Json]) -> Changes:
    """The changes of a spec. `previous` holds at least its objects that the last run wrote."""
    edits = edits_of(spec, objects, previous) if spec and previous else Edits()
    runs = tuple(reruns.new_runs(spec, objects, previous)) if spec else ()
    return Changes(spec, edits, tuple(immutability.check(objects, previous)), runs)
