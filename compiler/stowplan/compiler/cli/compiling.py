"""The commands that compile: `validate` and `synth`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from stowplan.compiler.cli.bases import base_missing, vouching_base
from stowplan.compiler.cli.ending import Ending, busy
from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import (
    Format,
    FormatOption,
    Out,
    PlatformOption,
    Repo,
    again,
    repository,
    writable_output,
)
from stowplan.compiler.cli.results import (
    compare,
    compare_with_git,
    counted_line,
    counts,
    known_of,
    refuse_unknown,
    remember,
    written_line,
)
from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.cache.stamp import Stamp
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.repository.layout import Repository
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


def validate(
    repo: Repo = Path(),
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Check all specs and say everything that is wrong with them. Writes no output.

    Example: stowplan validate my-repo
    """
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time

    source = repository(repo, platform)
    look = stamp.look(source)
    last = None if env else look.unchanged
    if last is None and (targets := chosen(source, env, output_format)):
        from stowplan.compiler.cli.everywhere import validate_all  # noqa: PLC0415 - start-up time

        validate_all(source, targets, output_format, None if env else look)
    if last and last.targets:
        from stowplan.compiler.cli.everywhere import end_validated  # noqa: PLC0415 - start-up time

        end_validated(Ending(source.folder, last.report, last.texts, output_format), last.targets)
    if last:
        _end_validated(Ending(source.folder, last.report, last.texts, output_format), last.objects, last.specs)

    from stowplan.compiler.pipeline import validate_repository  # noqa: PLC0415 - start-up time

    report, known = Report(), known_of(look)
    compiled = validate_repository(source, report, known=known, keep_objects=False)
    remember(look, known, compiled, report)
    _end_validated(Ending(source.folder, report, compiled.texts, output_format), compiled.objects, compiled.count)


def synth(
    repo: Repo = Path(),
    out: Out = None,
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; fail and show the difference if the output is not up to date."),
    ] = False,
    env: EnvOption = None,
    platform: PlatformOption = None,
    recompile: RecompileOption = None,
    base: BaseOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compile all specs into the output folder.

    Example: stowplan synth my-repo --check --base origin/main
    """
    source = repository(repo, platform)
    target = writable_output(out, source)
    if targets := chosen(source, env, output_format):
        _synth_all(source, target, targets, check=check, recompile=recompile, base=base, output_format=output_format)
    vouched = vouching_base(source, target, base)
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time

    look = None if check or vouched else stamp.look(source, target)
    if look and look.unchanged and not recompile:
        _end_unchanged(look.unchanged, source, target, output_format)

    from stowplan.compiler.committed.runs import Recompile  # noqa: PLC0415
    from stowplan.compiler.output.write import digests, write  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415 - start-up time
    from stowplan.compiler.repository.surroundings import surroundings  # noqa: PLC0415

    report, known = Report(), known_of(None if recompile else look)
    names = frozenset(recompile or ())
    renewed = Recompile("all" in names, names - {"all"})
    with busy("Compiling"):
        compiled = compile_repository(source, target, report, renewed, known=known, keep_objects=False, base=vouched)
    if check and base is None and in_ci():
        report.add(base_missing(target))
    around = None
    if compiled.program:
        program = compiled.program
        around, said = surroundings(source, target, program.platform.argocd, program.platform_document)
        report.add(*said)
    extra: dict[str, Any] = _numbers(compiled.objects, compiled.count)
    lines: list[str] = []
    if not report.failed:
        refuse_unknown(renewed.unknown(compiled.specs))
        if check:
            compare_with_git(target, source.folder, report)
            more, lines = compare(compiled, target, report, again(source, target))
        else:
            written = write(compiled.files, target, compiled.committed, report)
            more, lines = {"files": counts(written)}, [] if report.failed else [written_line(target, written)]
            if look and not report.failed:
                remember(look, known, compiled, report, digests(compiled.files, written), around=around)
        extra |= more
    starts = () if report.failed else compiled.starts
    extra["starts"] = [str(each.run) for each in starts]
    lines = [*_counted(compiled.count, report), *(each.line() for each in starts), *lines]
    ending = Ending(source.folder, report, compiled.texts, output_format, again(source, target))
    ending.finish(extra, lines, failed=not extra.get("upToDate", True))


def _synth_all(
    repo: "Repository",
    out: Path,
    targets: "Sequence[Target]",
    *,
    check: bool,
    recompile: list[str] | None,
    base: str | None,
    output_format: Format,
) -> NoReturn:
    from stowplan.compiler.cli.everywhere import Options, synth_all  # noqa: PLC0415 - start-up time
    from stowplan.compiler.committed.runs import Recompile  # noqa: PLC0415

    names = frozenset(recompile or ())
    bases = {each.name: vouching_base(repo, out / each.name, base, each) for each in targets}
    renewed = Recompile("all" in names, names - {"all"})
    synth_all(repo, out, targets, Options(check, renewed, bases, output_format))


def _end_unchanged(last: "Stamp", repo: "Repository", target: Path, output_format: Format) -> None:
    """Print the report of the last command again, and exit with its exit code."""
    counts = {"created": 0, "changed": 0, "unchanged": last.files, "removed": 0}
    ending = Ending(repo.folder, last.report, last.texts, output_format, again(repo, target))
    lines = [*_counted(last.specs, last.report), counted_line(target, counts)]
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
