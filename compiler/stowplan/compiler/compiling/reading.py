"""The first stage: from the files of a repository to the program of one target, with its references resolved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program
from stowplan.compiler.repository.load import Checkout, Sources
from stowplan.compiler.specs import retired_runs
from stowplan.compiler.specs.resolve import resolve
from stowplan.compiler.specs.validate import validate
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.meta import SpecId

_version = cache(version)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a target is compiled from: its program, and the documents that it is made of.

    `context` is what dialects need. `retired` are the specs whose run is over and kept out of the output.
    """

    target: Target
    sources: Sources
    program: Program
    context: Context
    retired: frozenset[SpecId]


def read(checkout: Checkout, target: Target, made: Sequence[Document], report: Report) -> Reading:
    """Read and validate the files of a target, and resolve the references of its specs. Diagnostics go to `report`.

    `made` are further documents of specs, which constructs stand for. Specs with errors are not in the program. From
    then on `report` leaves out the infos that `policy.quiet` lists.
    """
    found = Report()
    sources = checkout.sources(target, found)
    documents = (*sources.documents, *(sources.prepared(each, found) for each in made))
    sources = replace(sources, documents=documents)
    program = validate(sources.platform, documents, found)
    program = replace(program, incomplete=sources.incomplete, app=checkout.repo.app)
    report.silence(program.platform.policy.quiet)
    report.add(*found.diagnostics)
    program = resolve(program, report)
    retired = retired_runs.kept_out(checkout.runs, program.specs, target.environment.name or None, report)
    return Reading(target, sources, program, context_of(program, _version("stowplan")), retired)


def report_unused(checkout: Checkout, reading: Reading, report: Report) -> None:
    """Report patches, patterns and entries of the lock file that fit nothing. Call it once all specs are read."""
    sources, program = reading.sources, reading.program
    if not sources.incomplete:
        specs = {*(each.id for each in program.specs), *program.refused}
        reading.target.check(checkout.spec_files, specs, report)
    if not (sources.incomplete or program.refused):
        used = [each.pins for each in (*sources.documents, sources.platform)]
        sources.pinning.report_unused(used, report)


def texts(checkout: Checkout, report: Report) -> Mapping[str, str]:
    """Return the contents of the files that diagnostics name, by path."""
    named = {each.location.file for each in report.diagnostics}
    return {file: checkout.texts[file] for file in sorted(named & checkout.texts.keys())}
