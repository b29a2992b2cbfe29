"""All targets of a repository: compiled one after the other, judged together, and written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.combining import combined
from stowplan.compiler.environments.target import Target
from stowplan.compiler.environments.together import Result, judged, left
from stowplan.compiler.output.write import WriteResult, write
from stowplan.compiler.pipeline import Compiled, Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.surroundings import surroundings
from stowplan.compiler.repository.work_tree import Around


@dataclass(frozen=True, slots=True)
class CompiledTarget:
    """What one target compiles to. `out` is its folder. Diagnostics about it alone go to `report`."""

    target: Target
    out: Path
    report: Report
    compiled: Compiled


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What all targets of a command compile to, below the output folder `out`.

    `around` is what was seen of the Git work tree, and `together` what there is to be said of all targets together.
    """

    repo: Repository
    out: Path
    parts: Sequence[CompiledTarget]
    around: Around
    together: tuple[Diagnostic, ...]

    @property
    def report(self) -> Report:
        """One report of all targets."""
        report = combined([(each.target, each.report) for each in self.parts])
        report.add(*self.together)
        return report

    @property
    def texts(self) -> Mapping[str, str]:
        """The contents of the files that diagnostics name, by path."""
        return {file: text for each in self.parts for file, text in each.compiled.texts.items()}


def write_all(found: Synthesis, foreign: Sequence[Diagnostic]) -> tuple[Report, Sequence[WriteResult]]:
    """Write the output of all targets, unless there is an error in any of them.

    Returns the report at the end, with the errors of writing, and what was written for each target, in their order;
    nothing after an error before. `foreign` are diagnostics about files that belong to no target.
    """
    report, results = found.report, list[WriteResult]()
    report.add(*foreign)
    if not report.failed:
        for each in found.parts:
            results.append(write(each.compiled.files, each.out, each.compiled.committed, each.report))
        report = found.report
        report.add(*foreign)
    return report, results


def synthesis(compiler: Compiler, out: Path, targets: Sequence[Target], options: Mapping[str, Options]) -> Synthesis:
    """Compile targets for their folders below the output folder `out`, and judge them together; write nothing.

    `targets` is not empty. `options` has those of each, by its name. Raises what `Compiler.synth` raises.
    """
    checkout, parts = compiler.checkout, list[CompiledTarget]()
    for target in targets:
        report, place = Report(), out / target.name
        parts.append(CompiledTarget(target, place, report, compiler.synth(target, place, options[target.name], report)))
    programs = [(each, each.compiled.program) for each in parts if each.compiled.program]
    around, said = surroundings(checkout.repo, out, [(part.target, found.platform.argocd) for part, found in programs])
    reports = {each.target.name: each.report for each in parts}
    for target, found in said:
        reports[target.name].add(found)
    results = [
        Result(each.target, [(file.path, file.id) for file in each.compiled.files], each.compiled.runs)
        for each in parts
        if not each.report.failed
    ]
    return Synthesis(checkout.repo, out, parts, around, (*left(out, targets), *judged(results)))
