"""The commands that compile: `validate` and `synth`."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from stowplan.compiler.cli.ending import Ending, busy
from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import (
    Format,
    FormatOption,
    Out,
    PlatformOption,
    Repo,
    command,
    repository,
    writable_output,
)
from stowplan.compiler.cli.results import counted_line, of_targets, record, spec_lines
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stowplan.compiler.cache.stamp import Look, Numbers, Stamp
    from stowplan.compiler.cli.results import Ended
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.environments.together import Result
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.synthesis import Synthesis


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
    if look.unchanged and not env:
        last = look.unchanged
        _end_validated(Ending(source.folder, last.report, last.texts, output_format), last.numbers)

    from stowplan.compiler.compiling.reading import texts  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments.combining import combined  # noqa: PLC0415
    from stowplan.compiler.environments.together import judged  # noqa: PLC0415
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415
    from stowplan.compiler.pipeline import Compiler  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415
    from stowplan.compiler.repository.work_tree import Around  # noqa: PLC0415

    checkout = Checkout(source, look.contents)
    targets = chosen(checkout, source.usual_output, env, output_format)
    compiler, reports, found, numbers = Compiler(checkout, ComposerPool()), [], [], []
    for target in targets:
        report = Report()
        compiled = compiler.validate(target, report, keep_objects=False)
        reports.append((target, report))
        numbers.append(stamp.Numbers(target.name, compiled.objects, compiled.count))
        found += [] if report.failed else [_checked(source.usual_output, target, compiled)]
    report = combined(reports)
    report.add(*judged(found))
    named = texts(checkout, report)
    # What is said of runs to start depends on the output folder too, which the stamp does not cover.
    if not env and any(each.environment.start for each in targets) and not report.failed:
        look.forget()
    elif not env:
        look.remember(report, numbers, named, {}, Around())
    _end_validated(Ending(source.folder, report, named, output_format), numbers)


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
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time

    source = repository(repo, platform)
    top = writable_output(out, source)
    look = None if check or base or env or recompile else stamp.look(source, top)
    if look and look.unchanged:
        last = look.unchanged
        _end_unchanged(last, Ending(source.folder, last.report, last.texts, output_format, command(source, top)), top)

    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415 - start-up time

    with busy("Compiling"), closing(ComposerPool(lasting=False)) as composer:
        if not source.may_have("extensions"):
            composer.start()  # Node.js takes as long to start as Python to import what follows.

        from stowplan.compiler.cli.synthesising import SynthOptions  # noqa: PLC0415 - start-up time
        from stowplan.compiler.pipeline import Compiler  # noqa: PLC0415
        from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415

        checkout = Checkout(source, look.contents if look else {})
        targets = chosen(checkout, top, env, output_format)
        options = SynthOptions(check, base, recompile or ())
        found = options.synthesis(Compiler(checkout, composer), top, targets)
    report, ended = options.end(found)
    if look and not report.failed:
        _remember(look, found, ended, report)
    records = {each.numbers.target: record(each.numbers) | each.more for each in ended}
    lines = [line for each in ended for line in each.lines]
    ending = Ending(source.folder, report, found.texts, output_format, command(source, top))
    ending.finish(of_targets(records), lines, failed=not all(each.more.get("upToDate", True) for each in ended))


def _remember(look: "Look", found: "Synthesis", written: "Sequence[Ended]", report: Report) -> None:
    """Store the result for the next command; not with extensions in the platform file, which may read anything."""
    if any(each.compiled.program and each.compiled.program.platform.extensions for each in found.parts):
        look.forget()
        return
    digests = {path: digest for each in written for path, digest in each.digests.items()}
    look.remember(report, [each.numbers for each in written], found.texts, digests, found.around)


def _end_unchanged(last: "Stamp", ending: Ending, top: Path) -> NoReturn:
    """Print the report of the last command again, and exit with its exit code."""
    records, lines = {}, list[str]()
    for each in last.numbers:
        files = {"created": 0, "changed": 0, "unchanged": each.files, "removed": 0}
        records[each.target] = record(each) | {"files": files, "starts": []}
        lines += [*spec_lines(each), counted_line(top / each.target, files)]
    ending.finish(of_targets(records), lines)


def _end_validated(ending: Ending, numbers: "Sequence[Numbers]") -> NoReturn:
    """End `validate`, which compiled these numbers of objects for each target."""
    lines = [f"{each.target}: {each.specs}" if each.target else str(each.specs) for each in numbers]
    ending.finish(of_targets({each.target: record(each) for each in numbers}), [] if ending.report.failed else lines)


def _checked(out: Path, target: "Target", compiled: "Compiled") -> "Result":
    """Return what `validate` knows of a target, whose committed output is usually below the folder `out`.

    A run to start may be a committed one, whose spec has changed since. Without a committed output there the runs are
    not known: `synth` may write to another folder.
    """
    from stowplan.compiler.compiling.compile_all import hashes  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments.together import Result  # noqa: PLC0415
    from stowplan.compiler.output import inventory  # noqa: PLC0415

    committed = inventory.read(out / target.name)[0] if target.environment.start else inventory.Inventory()
    runs = None
    if committed.sha256:
        before = {spec: hashes(each.id for each in own) for spec, own in committed.by_spec.items() if spec}
        runs = {spec: compiled.runs.get(spec, frozenset()) | before.get(spec, frozenset()) for spec in compiled.specs}
    return Result(target, compiled.placed, runs)
