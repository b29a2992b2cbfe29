"""Does a change since the committed output break Kubernetes' rules, lose data, or start a run again?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from stowplan.compiler.checks.history import immutability, removals, reruns
from stowplan.compiler.checks.history.edits import Edits, edits_of
from stowplan.compiler.checks.history.reruns import Run
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Severity
from stowplan.schema.kinds.table import DATASET_KINDS
from stowplan.schema.meta import ObjectId, SpecId


class Changes(NamedTuple):
    """The changes of one spec: the edited fields, findings about its changed objects, and its new runs.

    If `spec` is None, the changes are those of the objects that belong to no spec. The findings do not yet name the
    edits that caused them: `check` adds these, because they depend on other specs too.
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


def check(graph: ObjectGraph, changes: Sequence[Changes], previous: Mapping[ObjectId, Json]) -> list[ObjectFinding]:
    """Return findings for changes of fixed fields, for removed data, and for runs that would start again.

    Each finding names the edits that caused it. `previous` holds the bodies of all committed objects.
    """
    changes = [each for each in changes if each.edits != Edits() or each.findings or each.runs]
    edited = (each.spec for each in changes if each.spec and each.edits.fields)
    # Other specs refer to datasets, so an edit of one changes their output too.
    datasets = frozenset(spec for spec in edited if spec.kind in DATASET_KINDS)
    edits = {each.spec: each.edits.given(datasets) for each in changes}
    moved = [
        replace(found, edits=immutability.causes(found, edits[each.spec]))
        for each in changes
        for found in each.findings
    ]
    moved += removals.check(graph, previous, _severity(graph.platform.policy.removal))
    renamed = removals.renamed(graph, previous)
    started = reruns.check(graph, (each.runs for each in changes), previous, _severity(graph.platform.policy.rerun))
    return [
        *(_with_reason(found) if found.spec in renamed else found for found in moved),
        *(replace(found, edits=edits[found.spec]) for found in started),
    ]


def _with_reason(found: ObjectFinding) -> ObjectFinding:
    reason = "If `names` was changed in the platform file, change it back: it names what holds the data of all specs."
    return replace(found, found=replace(found.found, hint=f"{reason} {found.found.hint}"))


def _severity(policy: str) -> Severity:
    return Severity.ERROR if policy == "error" else Severity.WARNING
