"""The commands that compile: `validate` and `synth`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from stowplan.compiler.cli.bases import base_missing, in_ci, vouching_base
from stowplan.compiler.cli.ending import Ending, busy
from stowplan.compiler.cli.options import Format, FormatOption, Out, Repo, apart_from_specs, folder
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.cache.compiled_file import Known
    from stowplan.compiler.cache.stamp import Look, Stamp
    from stowplan.compiler.output.write import WriteResult
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.repository.spec_count import SpecCount


RecompileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--recompile",
        metavar="NAME",
        help="Compile the runs of this spec anew although it has not changed, as `imagenet`, `ml/imagenet` or "
        "`SampleSet ml/imagenet`; `all` for every spec. Their Jobs may start again.",
    ),
]

BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REV",
        help="Reviewed commit, such as the tip of the branch that a pull request is for. A run that is reused must"
        " be what the specs compile to now, or be in the output of this commit. In CI, `--check` needs it.",
    ),
]


def validate(repo: Repo = Path(), output_format: FormatOption = Format.TEXT) -> None:
    """Check all specs and say everything that is wrong with them. Writes no output.

    Example: stowplan validate my-repo
    """
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time

    source = folder(repo)
    look = stamp.look(source)
    if last := look.unchanged:
        _end_validated(Ending(source, last.report, last.texts, output_format), last.objects, last.specs)

    from stowplan.compiler.pipeline import validate_repository  # noqa: PLC0415 - start-up time

    report, known = Report(), _known(look)
    compiled = validate_repository(source, report, known=known, keep_objects=False)
    _remember(look, known, compiled, report)
    _end_validated(Ending(source, report, compiled.texts, output_format), compiled.objects, compiled.count)


def synth(
    repo: Repo = Path(),
    out: Out = None,
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; fail and show the difference if the output is not up to date."),
    ] = False,
    recompile: RecompileOption = None,
    base: BaseOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compile all specs into the output folder.

    Example: stowplan synth my-repo --check --base origin/main
    """
    source = folder(repo)
    target = apart_from_specs(out or source / "out", source)
    vouched = vouching_base(target, base)
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time

    look = None if check or vouched else stamp.look(source, target)
    if look and look.unchanged and not recompile:
        _end_unchanged(look.unchanged, source, target, output_format)

    from stowplan.compiler.committed.runs import Recompile  # noqa: PLC0415
    from stowplan.compiler.output.write import digests, write  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415 - start-up time

    report, known = Report(), _known(None if recompile else look)
    names = frozenset(recompile or ())
    renewed = Recompile("all" in names, names - {"all"})
    with busy("Compiling"):
        compiled = compile_repository(source, target, report, renewed, known=known, keep_objects=False, base=vouched)
    if check and base is None and in_ci():
        report.add(base_missing(target))
    extra: dict[str, Any] = _numbers(compiled.objects, compiled.count)
    lines: list[str] = []
    if not report.failed:
        _refuse_unknown(renewed.unknown(compiled.specs))
        if check:
            more, lines = _compare(compiled, target, report)
        else:
            written = write(compiled.files, target, compiled.committed, report)
            more, lines = {"files": _counts(written)}, [] if report.failed else [written_line(target, written)]
            if look and not report.failed:
                _remember(look, known, compiled, report, digests(compiled.files, written))
        extra |= more
    extra["starts"] = [] if report.failed else [str(run) for run in compiled.starts]
    lines = [*_counted(compiled.count, report), *(f"starts when synced: {run}" for run in extra["starts"]), *lines]
    ending = Ending(source, report, compiled.texts, output_format)
    ending.finish(extra, lines, failed=not extra.get("upToDate", True))


def _known(look: "Look | None") -> "Known":
    """Return the results of the last command that this command can use; empty if `look` is None."""
    from stowplan.compiler.cache.compiled_file import CompiledFiles, Known  # noqa: PLC0415 - start-up time

    if look is None:
        return Known()
    files = look.record.read(_FILES, CompiledFiles) or CompiledFiles()
    return Known(files, look.contents, look.tree, look.outputs)


def _remember(
    look: "Look", known: "Known", compiled: "Compiled", report: Report, written: Mapping[str, str] | None = None
) -> None:
    """Store the results for the next command. With extensions in the platform file, nothing is stored.

    `written` are the SHA-256 digests of all output files by path; None for a command that writes nothing.
    """
    if compiled.known is None and not report.failed:
        look.forget()
        return
    look.remember(report, compiled.objects, compiled.count, compiled.texts, written=written)
    if compiled.known is not None and compiled.known != known.compiled:
        look.record.write(_FILES, compiled.known)


_FILES = "files"


def _end_unchanged(last: "Stamp", repo: Path, target: Path, output_format: Format) -> None:
    """Print the report of the last command again, and exit with its exit code."""
    counts = {"created": 0, "changed": 0, "unchanged": last.files, "removed": 0}
    ending = Ending(repo, last.report, last.texts, output_format)
    lines = [*_counted(last.specs, last.report), _written_line(target, counts)]
    ending.finish(_numbers(last.objects, last.specs) | {"files": counts, "starts": []}, lines)


def _end_validated(ending: Ending, objects: int, specs: "SpecCount") -> NoReturn:
    """End `validate`, which compiled this number of objects of these specs."""
    ending.finish(_numbers(objects, specs), _counted(specs, ending.report))


def _numbers(objects: int, specs: "SpecCount") -> dict[str, Any]:
    """Return the numbers of compiled objects, of specs and of their files, for the JSON output."""
    return {"objects": objects, "specs": specs.specs, "specFiles": specs.files}


def _counted(specs: "SpecCount", report: Report) -> list[str]:
    """Return the line with the number of specs; after an error none, since not all of them may have been read."""
    return [] if report.failed else [str(specs)]


def _refuse_unknown(names: list[str]) -> None:
    if names:
        raise typer.BadParameter(f"There is no spec {names[0]}.", param_hint="--recompile")


def _compare(compiled: "Compiled", target: Path, report: Report) -> tuple[dict[str, Any], list[str]]:
    """Return whether the output folder `target` is up to date, as a record for JSON and as lines for people."""
    from stowplan.compiler.output.up_to_date import compare  # noqa: PLC0415 - start-up time

    comparison = compare(compiled.files, target, compiled.committed, report)
    if comparison.same:
        lines = [f"{target} is what the specs compile to."]
    else:
        lines = [*comparison.lines(), "", f"{target} is not what the specs compile to. {comparison.remedy}"]
    return {"upToDate": comparison.same}, lines


def written_line(target: Path, result: "WriteResult") -> str:
    """Return the last line that `synth` prints, such as `out: 2 created, 1 changed, 12 unchanged, 0 removed`."""
    return _written_line(target, _counts(result))


def _written_line(target: Path, counts: dict[str, int]) -> str:
    return f"{target}: " + ", ".join(f"{number} {name}" for name, number in counts.items())


def _counts(result: "WriteResult") -> dict[str, int]:
    return {name: len(getattr(result, name)) for name in ("created", "changed", "unchanged", "removed")}
