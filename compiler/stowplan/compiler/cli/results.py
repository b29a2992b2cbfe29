"""The ends of `synth`: writing or comparing the output of all targets, and what is said of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stowplan.compiler.cli.options import command
from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stowplan.compiler.cache.stamp import Numbers
    from stowplan.compiler.diagnostics.report import Diagnostic
    from stowplan.compiler.output.write import WriteResult
    from stowplan.compiler.synthesis import CompiledTarget, Synthesis


@dataclass(frozen=True, slots=True)
class Ended:
    """How `synth` ended for one target: its numbers, further entries of its JSON record (`more`), and lines for people.

    `digests` are the SHA-256 of the files that it wrote, by path below the output folder of all targets.
    """

    numbers: "Numbers"
    more: dict[str, Any]
    lines: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


def of_targets(records: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON record of a command, given the record of each target by the target's name.

    Without environments there is one target, whose name is empty, and its record is returned itself. With environments
    the names are theirs, and the result is `{"environments": records}`.
    """
    return records[""] if "" in records else {"environments": dict(records)}


def record(numbers: "Numbers") -> dict[str, Any]:
    """Return the entries `objects`, `specs` and `specFiles` (the files of specs) of the JSON output, all numbers."""
    return {"objects": numbers.objects, "specs": numbers.specs.specs, "specFiles": numbers.specs.files}


def spec_lines(numbers: "Numbers") -> list[str]:
    """Return a list with the line that counts the specs; an empty one for a target of an environment."""
    return [] if numbers.target else [str(numbers.specs)]


def write(found: "Synthesis", foreign: "Sequence[Diagnostic]") -> "tuple[Report, list[Ended]]":
    """Write the output of all targets, unless there is an error in any of them.

    Return the report at the end, and how each target ended, in the order of `found.parts`. `foreign` are diagnostics
    about files in the output folder that belong to no target; they are added to the report.
    """
    from stowplan.compiler.synthesis import write_all  # noqa: PLC0415 - start-up time

    report, results = write_all(found, foreign)
    if not results:
        return report, [Ended(_numbers(each), {"starts": []}) for each in found.parts]
    return report, [_written(each, result) for each, result in zip(found.parts, results, strict=True)]


def _written(part: "CompiledTarget", result: "WriteResult") -> Ended:
    from stowplan.compiler.output.write import digests  # noqa: PLC0415 - start-up time

    files = {} if part.report.failed else digests(part.compiled.files, result)
    return Ended(
        _numbers(part, len(files)),
        {"files": counts(result), "starts": _starts(part)},
        () if part.report.failed else (*_start_lines(part), counted_line(part.out, counts(result))),
        {f"{part.target.name}/{path}".lstrip("/"): digest for path, digest in files.items()},
    )


def check(found: "Synthesis", foreign: "Sequence[Diagnostic]") -> "tuple[Report, list[Ended]]":
    """Compare the output of all targets with what the disk and Git have; write nothing.

    Parameters and result are those of `write`. The record of a target has `upToDate`, unless the specs have errors.
    Raises what `compare_with_git` raises.
    """
    report = found.report
    foreign_report = Report()
    foreign_report.add(*foreign)
    ended = [Ended(_numbers(each), {"starts": []}) for each in found.parts]
    if not report.failed:
        compare_with_git(found.out, found.repo.folder, foreign_report)
        ended = [_compared(each, command(found.repo, found.out), foreign_report) for each in found.parts]
        report = found.report
    report.add(*foreign_report.diagnostics)
    return report, ended


def _compared(part: "CompiledTarget", advice: str, foreign_report: Report) -> Ended:
    from stowplan.compiler.cli.ending import completed  # noqa: PLC0415 - start-up time
    from stowplan.compiler.output.up_to_date import compare  # noqa: PLC0415

    comparison = compare(part.compiled.files, part.out, part.compiled.committed, part.report)
    sound = not (part.report.failed or foreign_report.failed)
    lines = [*_start_lines(part)] if sound else []
    if not comparison.same:
        remedy = completed(comparison.remedy, advice)
        lines += [*comparison.lines(), "", f"{part.out} is not what the specs compile to. {remedy}"]
    elif sound:
        lines.append(f"{part.out} is what the specs compile to.")
    return Ended(_numbers(part), {"upToDate": comparison.same and sound, "starts": _starts(part)}, tuple(lines))


def _numbers(part: "CompiledTarget", files: int = 0) -> "Numbers":
    from stowplan.compiler.cache.stamp import Numbers  # noqa: PLC0415 - start-up time

    return Numbers(part.target.name, part.compiled.objects, part.compiled.count, files)


def _starts(part: "CompiledTarget") -> list[str]:
    return [str(each.run) for each in part.compiled.starts]


def _start_lines(part: "CompiledTarget") -> list[str]:
    name = part.target.name
    return [*spec_lines(_numbers(part)), *(each.line(name) for each in part.compiled.starts)]


def compare_with_git(target: Path, repo: Path, report: Report) -> None:
    """Report where Git holds the output folder `target` of the repository `repo` otherwise than the disk.

    Raises `typer.BadParameter` in CI if Git cannot be asked; elsewhere such a check is one of the disk alone.
    """
    from stowplan.compiler.git.work_tree import GitError  # noqa: PLC0415 - start-up time
    from stowplan.compiler.output.in_git import problems  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415

    try:
        report.add(*problems(target, repo))
    except GitError as error:
        if in_ci():
            raise typer.BadParameter(str(error), param_hint="--check") from None
    except OSError as error:
        report.add(unusable(target, error))


def counted_line(target: Path, counts: dict[str, int]) -> str:
    """Return the last line about an output folder: `out: 2 created, 1 changed, 12 unchanged, 0 removed`."""
    return f"{target}: " + ", ".join(f"{number} {name}" for name, number in counts.items())


def counts(result: "WriteResult") -> dict[str, int]:
    """Return the numbers of files that were `created`, `changed`, `unchanged` and `removed`, by these words."""
    return {name: len(getattr(result, name)) for name in ("created", "changed", "unchanged", "removed")}
