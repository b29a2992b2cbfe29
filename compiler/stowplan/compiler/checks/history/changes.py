"""The changes of one spec since the committed output, without the bodies of its objects."""

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
    """The changes of one spec: the edited fields, findings about its changed objects, and its new runs.

    If `spec` is None, the changes are those of the objects that belong to no spec. The findings do not yet name the
    edits that caused them: `history` adds these later, because they depend on other specs too.
    """

    spec: SpecId | None = None
    edits: Edits = Edits()
    findings: tuple[ObjectFinding, ...] = ()
    runs: tuple[Run, ...] = ()


def changes_of(spec: SpecId | None, objects: Objects, previous: Mapping[ObjectId, Json]) -> Changes:
    """Return the changes of a spec, or of the objects of no spec.

    `previous` holds bodies of committed objects, at least all those of this spec.
    """
    edits = edits_of(spec, objects, previous) if spec and previous else Edits()
    runs = tuple(reruns.new_runs(spec, objects, previous)) if spec else ()
    return Changes(spec, edits, tuple(immutability.check(objects, previous)), runs)
