"""The check stage: what is wrong with the compiled objects, said at the spec they come from.

It has two rooms. `local` looks at the objects of each spec alone, and may so be run for some of the specs, or in
another process; what it leaves are findings, facts and changes. `shared` looks at the facts of all.
"""

from collections.abc import Mapping, Sequence

from stowplan.compiler.checks import local, shared
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.local import Checked
from stowplan.compiler.checks.objects.places import DocumentOf, Places
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Output, Program
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId


def check(outputs: Sequence[Output], program: Program, previous: Mapping[ObjectId, Json], report: Report) -> None:
    """Run all checks over the outputs and add what they find to `report`.

    `previous` holds the objects that the committed output holds, by identity; it is empty for a first run.
    """
    platform = program.platform
    known = local.definitions(outputs, platform.kubernetes_version)
    conclude(local.check(outputs, platform, known, previous), program, previous, report)


def conclude(
    parts: Sequence[Checked],
    program: Program,
    previous: Mapping[ObjectId, Json],
    report: Report,
    *,
    elsewhere: DocumentOf | None = None,
) -> None:
    """Add to `report` what `local` found in all specs, and what is wrong between them.

    `previous` holds at least the objects that the last run wrote and this one does not. `elsewhere` gives the
    documents of specs that are not in the program.
    """
    world = World(part.facts for part in parts)
    findings = [
        *(finding for part in parts for finding in part.findings),
        *shared.check(world, [part.changes for part in parts], program.platform, previous),
    ]
    places = Places(program, world, elsewhere)
    report.add(*(places.diagnostic(found) for found in findings))
