"""The end of the check stage, after `spec_stage` has checked the objects of each spec alone."""

from collections.abc import Mapping, Sequence

from stowplan.compiler.checks.across_specs.facts import graph_of
from stowplan.compiler.checks.across_specs.registry import CHECKS
from stowplan.compiler.checks.history import history
from stowplan.compiler.checks.objects.places import Places
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Program
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId


def conclude(
    parts: Sequence[Checked],
    program: Program,
    previous: Mapping[ObjectId, Json],
    report: Report,
) -> None:
    """Add to `report` all findings, located in the users' files: in each spec, across specs, and about changes.

    `parts` are the results of `spec_stage`. `previous` holds at least the committed objects that are no longer
    compiled.
    """
    graph = graph_of([part.facts for part in parts], program.platform)
    findings = [
        *(found for part in parts for found in part.findings),
        *(found for check in CHECKS for found in check.check(graph)),
        *history.check(graph, [part.changes for part in parts], previous),
    ]
    templates = dict(pair for part in parts for pair in part.facts.templates)
    places = Places(program, templates)
    report.add(*(places.diagnostic(found) for found in findings))
