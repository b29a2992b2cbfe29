"""What a command compares: the output of the specs with an earlier output."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, again
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stowplan.compiler.compiling.alike import Made
    from stowplan.compiler.diff.change import Change
    from stowplan.compiler.diff.environments import Cells, Column
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.pins.moves import Move
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.repository.layout import Repository


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes of one output folder, what it was compiled to, and the files before by path.

    `name` is the environment or cluster that it is for; empty without environments.
    """

    name: str
    changes: "Sequence[Change]"
    compiled: "Compiled"
    before: "Mapping[str, bytes]"


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The changes of all output folders; `columns` is what each has, if there are several environments.

    `moved` are the pins that moved since the base commit; None without one.
    """

    all: "tuple[Comparison, ...]"
    moved: "Sequence[Move] | None"
    columns: "Sequence[Column]" = ()


def compared(source: "Repository", top: Path, base: str | None, targets: "Sequence[Target]") -> Comparisons:
    """Compare the output of each target below the folder `top` with that in the commit `base`, or as it is.

    Without targets there is one output folder, `top` itself. Ends the process if the specs have errors.
    """
    from stowplan.compiler.compiling.alike import of_environment  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.environments import cells, columns  # noqa: PLC0415

    advice = again(source, top)
    if not targets:
        return Comparisons((_compare(source, top, base, advice=advice),), _moves(source, base))
    found: list[Comparison] = []
    held: list[tuple[Target, Cells]] = []
    first = None
    for target in targets:
        own = _compare(
            source, top / target.name, base, advice=advice, place=target, first=of_environment(first, target)
        )
        found.append(own)
        compiled = own.compiled
        first = compiled.made or first
        held.append((target, cells(compiled.program, compiled.outputs, compiled.waiting) if compiled.program else {}))
    several = len({each.environment.name for each in targets}) > 1
    return Comparisons(tuple(found), _moves(source, base), columns(held) if several else ())


def _compare(
    source: "Repository",
    target: Path,
    base: str | None,
    *,
    advice: str,
    place: "Target | None" = None,
    first: "Made | None" = None,
) -> Comparison:
    """Compare the output folder `target`.

    `place` is the environment that it is for, if there are any, and `first` what another of its clusters was made from.
    `advice` is what advised commands need, see `options.again`.
    """
    from stowplan.compiler.diff.comparison import compare  # noqa: PLC0415
    from stowplan.compiler.diff.risks.foreign import foreign, without  # noqa: PLC0415
    from stowplan.compiler.diff.risks.unvouched import judged  # noqa: PLC0415
    from stowplan.compiler.git.commit import merge_base  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import GitError, around  # noqa: PLC0415
    from stowplan.compiler.output.folder import scan  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415 - start-up time

    report = Report()
    try:
        base = base and merge_base(around(target, source.folder), base)
        before = _before(source, target, base, place)
        compiled = compile_repository(source, target, report, base=judged(before, base), target=place, first=first)
        if report.failed:
            Ending(source.folder, report, compiled.texts, Format.TEXT, advice).finish({})
        found = foreign(compiled.files, scan(target), compiled.committed, before if base else None)
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
    except OSError as error:
        report.add(unusable(target, error))
        Ending(source.folder, report, {}, Format.TEXT, advice).finish({})
    before = without(found, before, compiled.files)
    return Comparison(place.name if place else "", [*found, *compare(before, compiled.outputs)], compiled, before)


def _before(source: "Repository", out: Path, base: str | None, place: "Target | None") -> dict[str, bytes]:
    """Return the files of the output folder `out`, in the commit `base` or as it is; those that `place` takes over."""
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.base import at_commit, on_disk  # noqa: PLC0415
    from stowplan.compiler.environments.target import names  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import around  # noqa: PLC0415
    from stowplan.compiler.output.inventory_files import below  # noqa: PLC0415

    if base:
        top = around(out, source.folder)
        folder = adoption.at_commit(place, top, out, base)
        found = at_commit(top, folder, base)
    else:
        folder = adoption.source(place, out) or out
        found = on_disk(folder)
    if place is None or folder == out:
        return found
    known = names(place.source.data["environments"])
    apart = tuple(f"{name}/" for name in known if below(name, found))
    return {path: content for path, content in found.items() if not path.startswith(apart)}


def _moves(source: "Repository", base: str | None) -> "Sequence[Move] | None":
    """Return the pins that moved since the commit `base`; None without one: no output says by which pins it was made.

    A lock file at the base that is not valid counts as none; the present one was read without errors.
    """
    if not base:
        return None
    from stowplan.compiler.diff.base import lock_at_commit  # noqa: PLC0415 - start-up time
    from stowplan.compiler.git.commit import merge_base  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import GitError, around  # noqa: PLC0415
    from stowplan.compiler.pins.moves import moves  # noqa: PLC0415
    from stowplan.compiler.repository.load import lock_of  # noqa: PLC0415

    try:
        top = around(source.folder, source.folder)
        return moves(lock_at_commit(top, source, merge_base(top, base)), lock_of(source))
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
