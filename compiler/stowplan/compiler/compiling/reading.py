"""The first stage: from the files of a repository to the program of one target, with its references resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.specs import retired_runs
from stowplan.compiler.specs.resolve import resolve
from stowplan.compiler.specs.validate import validate
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.meta import SpecId

_version = cache(version)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a target is compiled from: its program.

    `context` is what dialects need. `retired` are the specs whose run is over and kept out of the output.
    """

    target: Target
    program: Program
    context: Context
    retired: frozenset[SpecId]


def read(checkout: Checkout, target: Target, report: Report) -> Reading:
    """Read and validate the files of a target, and resolve the references of its specs. Diagnostics go to `report`.

    Specs with errors are not in the program. From then on `report` leaves out the infos that `policy.quiet` lists.
    """
    found = Report()
    sources = checkout.sources(target, found)
    program = replace(validate(sources.platform, sources.documents, found), incomplete=sources.incomplete)
    report.silence(program.platform.policy.quiet)
    report.add(*found.diagnostics)
    program = resolve(program, report)
    if not sources.incomplete:
        target.check(checkout.spec_files, {*(each.id for each in program.specs), *program.refused}, report)
    if not (sources.incomplete or program.refused):
        used = [each.pins for each in (*sources.documents, sources.platform)]
        sources.pinning.report_unused(used, report)
    retired = retired_runs.kept_out(checkout.runs, program.specs, target.environment.name or None, report)
    return Reading(target, program, context_of(program, _version("stowplan")), retired)


def texts(checkout: Checkout, report: Report) -> Mapping[str, str]:
    """Return the contents of the files that diagnostics name, by path."""
    named = {each.location.file for each in report.diagnostics}
    return {file: checkout.texts[file] for file in sorted(named & checkout.texts.keys())}
