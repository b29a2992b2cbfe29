"""The commands `validate` and `synth` of a repository with environments: once for each of their clusters."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from stowplan.compiler.cli.bases import base_missing
from stowplan.compiler.cli.ending import Ending, busy
from stowplan.compiler.cli.options import Format, again
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
from stowplan.compiler.repository.spec_count import SpecCount

if TYPE_CHECKING:
    from stowplan.compiler.cache.compiled_file import Known
    from stowplan.compiler.cache.stamp import Compiled as Numbers
    from stowplan.compiler.cache.stamp import Look
    from stowplan.compiler.committed.runs import Recompile
    from stowplan.compiler.committed.vouching import Base
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.environments.together import Result
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.repository.layout import Repository
    from stowplan.compiler.repository.work_tree import Around


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `synth`: `bases` has the base commit of each target by its name, empty without one."""

    check: bool
    recompile: "Recompile"
    bases: "Mapping[str, Base | None]"
    output_format: Format


@dataclass(frozen=True, slots=True)
class _Part:
    """What one target compiles to, with the cache's state before. `look` is None if the cache is not used.

    `around` is what was seen of the Git work tree; None after an error.
    """

    target: "Target"
    out: Path
    report: Report
    compiled: "Compiled"
    look: "Look | None"
    known: "Known"
    around: "Around | None" = None


def validate_all(
    repo: "Repository", targets: "Sequence[Target]", output_format: Format, look: "Look | None"
) -> NoReturn:
    """Check all specs for each target, print what is wrong, and end the process.

    `look` remembers the result; None if `targets` are not all.
    """
    from stowplan.compiler.cache.stamp import Compiled as Numbers  # noqa: PLC0415 - start-up time
    from stowplan.compiler.compiling.alike import of_environment  # noqa: PLC0415
    from stowplan.compiler.environments.combining import combined  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments.together import judged  # noqa: PLC0415
    from stowplan.compiler.pipeline import validate_repository  # noqa: PLC0415

    parts, first = [], None
    for target in targets:
        report = Report()
        compiled = validate_repository(
            repo, report, keep_objects=False, target=target, first=of_environment(first, target)
        )
        first = compiled.made or first
        parts.append((target, report, replace(compiled, made=None)))
    report = combined([(target, own) for target, own, _ in parts])
    results = [_checked(repo.usual_output, target, each) for target, own, each in parts if not own.failed]
    report.add(*judged(results))
    texts = {file: text for _, _, each in parts for file, text in each.texts.items()}
    numbers = [Numbers(target.name, each.objects, each.count) for target, _, each in parts]
    # What is said of runs to start depends on the output folder too, which the stamp does not cover.
    if look and any(each.environment.start for each in targets) and not report.failed:
        look.forget()
    elif look:
        look.remember(report, 0, SpecCount(), texts, targets=numbers)
    end_validated(Ending(repo.folder, report, texts, output_format), numbers)


def end_validated(ending: Ending, numbers: "Sequence[Numbers]") -> NoReturn:
    """End `validate`, which compiled these numbers of objects for each target."""
    extra = {each.name: _numbers(each.objects, each.specs) for each in numbers}
    lines = [] if ending.report.failed else [f"{each.name}: {each.specs}" for each in numbers]
    ending.finish({"environments": extra}, lines)


def synth_all(repo: "Repository", out: Path, targets: "Sequence[Target]", options: Options) -> NoReturn:
    """Compile all specs for each target into its folder below `out`, print the result, and end the process.

    Nothing is written if there is an error in any of them.
    """
    from stowplan.compiler.environments import together  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments.combining import combined  # noqa: PLC0415

    looks = _looks(repo, out, targets, options)
    if all(look and look.unchanged for look in looks):
        _end_unchanged(repo, out, list(zip(targets, looks, strict=True)), options.output_format)
    parts = _compiled(repo, out, list(zip(targets, looks, strict=True)), options)
    report = combined([(each.target, each.report) for each in parts])
    of_all = [
        *together.left(out, targets, taken=not options.check),
        *together.judged([_result(each) for each in parts if not each.report.failed]),
    ]
    beside = Report()
    beside.add(*together.strange(out, targets, refused=options.check))
    if options.check:
        compare_with_git(out, repo.folder, beside)
    # A check goes on, to say all that is foreign.
    report.add(*of_all, *(() if options.check else beside.diagnostics))
    extra = {each.target.name: _numbers(each.compiled.objects, each.compiled.count) for each in parts}
    lines: list[str] = []
    current, advice = True, again(repo, out)
    if not report.failed:
        refuse_unknown(options.recompile.unknown([spec for each in parts for spec in each.compiled.specs]))
        for each in parts:
            more, own = _compare(each, advice) if options.check else _write(each)
            current = current and more.get("upToDate", True)
            extra[each.target.name] |= {**more, "starts": [str(start.run) for start in each.compiled.starts]}
            lines += [start.line(each.target.name) for start in each.compiled.starts]
            lines += own
        report = combined([(each.target, each.report) for each in parts])
        report.add(*of_all, *beside.diagnostics)
    texts = {file: text for each in parts for file, text in each.compiled.texts.items()}
    ending = Ending(repo.folder, report, texts, options.output_format, advice)
    ending.finish({"environments": extra}, lines, failed=not current)


def _looks(repo: "Repository", out: Path, targets: "Sequence[Target]", options: Options) -> "list[Look | None]":
    """Return what the cache knows of each target; None for those whose cache is not used."""
    from stowplan.compiler.cache import stamp  # noqa: PLC0415 - start-up time
    from stowplan.compiler.committed import adoption  # noqa: PLC0415

    renewed = options.check or options.recompile.everything or options.recompile.names
    return [
        None
        if renewed or options.bases.get(each.name) or adoption.left(each, out / each.name)
        else stamp.look(repo, out / each.name)
        for each in targets
    ]


def _end_unchanged(
    repo: "Repository", out: Path, found: "Sequence[tuple[Target, Look | None]]", output_format: Format
) -> NoReturn:
    """Print what the last command said of each target, and end: nothing has changed since.

    What is to be said of all targets together is judged by their inventories, since that command was perhaps about one.
    """
    from stowplan.compiler.committed.started import hashes  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments import together  # noqa: PLC0415
    from stowplan.compiler.environments.combining import combined  # noqa: PLC0415
    from stowplan.compiler.output import inventory  # noqa: PLC0415

    last = [(target, look.unchanged) for target, look in found if look and look.unchanged]
    report = combined([(target, each.report) for target, each in last])
    results = []
    for target, _ in last:
        committed = inventory.read(out / target.name)[0]
        runs = {spec: hashes(each.id for each in own) for spec, own in committed.by_spec.items() if spec}
        results.append(together.Result(target, [(each.path, each.id) for each in committed.entries], runs))
    every = [target for target, _ in last]
    report.add(*together.left(out, every), *together.strange(out, every), *together.judged(results))
    extra, lines = {}, list[str]()
    for target, each in last:
        files = {"created": 0, "changed": 0, "unchanged": each.files, "removed": 0}
        extra[target.name] = _numbers(each.objects, each.specs) | {"files": files, "starts": []}
        lines.append(counted_line(out / target.name, files))
    texts = {file: text for _, each in last for file, text in each.texts.items()}
    ending = Ending(repo.folder, report, texts, output_format, again(repo, out))
    ending.finish({"environments": extra}, [] if report.failed else lines)


def _compiled(
    repo: "Repository", out: Path, targets: "Sequence[tuple[Target, Look | None]]", options: Options
) -> list[_Part]:
    from stowplan.compiler.compiling.alike import of_environment  # noqa: PLC0415 - start-up time
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415
    from stowplan.compiler.repository.surroundings import surroundings  # noqa: PLC0415

    parts, first = [], None
    with busy("Compiling"), closing(ComposerPool(lasting=False)) as composer:
        for target, look in targets:
            report, place, base = Report(), out / target.name, options.bases.get(target.name)
            known = known_of(look)
            compiled = compile_repository(
                repo,
                place,
                report,
                options.recompile,
                composer=composer,
                known=known,
                keep_objects=False,
                base=base,
                target=target,
                first=of_environment(first, target),
            )
            first = compiled.made or first
            if options.check and base is None and in_ci():
                report.add(base_missing(place))
            around = None
            if compiled.program:
                settings = compiled.program.platform.argocd
                around, said = surroundings(repo, place, settings, target.source, target)
                report.add(*said)
            parts.append(_Part(target, place, report, replace(compiled, made=None), look, known, around))
    return parts


def _result(part: _Part) -> "Result":
    from stowplan.compiler.environments.together import Result  # noqa: PLC0415 - start-up time

    return Result(part.target, [(file.path, file.id) for file in part.compiled.files], part.compiled.runs)


def _checked(out: Path, target: "Target", compiled: "Compiled") -> "Result":
    """Return what `validate` knows of a target, whose committed output is usually in the folder `out`.

    A run to start may be a committed one, whose spec has changed since. Without a committed output there, or if `out`
    is None, the runs are not known: `synth` may write to another folder.
    """
    from stowplan.compiler.committed.started import hashes  # noqa: PLC0415 - start-up time
    from stowplan.compiler.environments.together import Result  # noqa: PLC0415
    from stowplan.compiler.output import inventory  # noqa: PLC0415

    committed = inventory.read(out / target.name)[0] if target.environment.start else inventory.Inventory()
    runs = None
    if committed.sha256:
        before = {spec: hashes(each.id for each in own) for spec, own in committed.by_spec.items() if spec}
        runs = {spec: compiled.runs.get(spec, frozenset()) | before.get(spec, frozenset()) for spec in compiled.specs}
    return Result(target, compiled.placed, runs)


def _compare(part: _Part, advice: str) -> tuple[dict[str, Any], list[str]]:
    return compare(part.compiled, part.out, part.report, advice)


def _write(part: _Part) -> tuple[dict[str, Any], list[str]]:
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.output import paths  # noqa: PLC0415
    from stowplan.compiler.output.write import digests, write  # noqa: PLC0415

    written = write(part.compiled.files, part.out, part.compiled.committed, part.report)
    if part.report.failed:
        return {"files": counts(written)}, []
    lines = [written_line(part.out, written)]
    if adoption.remove(part.target, part.out, part.compiled.files):
        root = part.out / paths.ROOT
        lines.append(f"{part.target.name} took over the output. Once it is merged, apply {root} to Argo CD's cluster.")
    if part.look:
        remember(
            part.look, part.known, part.compiled, part.report, digests(part.compiled.files, written), around=part.around
        )
    return {"files": counts(written)}, lines


def _numbers(objects: int, specs: SpecCount) -> dict[str, Any]:
    """Return the numbers of compiled objects, of specs and of their files, for the JSON output."""
    return {"objects": objects, "specs": specs.specs, "specFiles": specs.files}
