"""What a command compares: the output of the specs with an earlier output."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, again
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stowplan.compiler.diff.change import Change
    from stowplan.compiler.diff.environments import Column
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.pins.moves import Move
    from stowplan.compiler.pipeline import Compiled, Compiler
    from stowplan.compiler.repository.layout import Repository
    from stowplan.compiler.repository.load import Checkout


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


def compared(checkout: "Checkout", top: Path, base: str | None, targets: "Sequence[Target]") -> Comparisons:
    """Compare the output of each target below the folder `top` with that in the commit `base`, or as it is.

    Ends the process if the specs have errors.
    """
    from stowplan.compiler.diff.environments import cells, columns  # noqa: PLC0415 - start-up time
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415
    from stowplan.compiler.pipeline import Compiler  # noqa: PLC0415

    with closing(ComposerPool(lasting=False)) as composer:
        compiler = Compiler(checkout, composer)
        found = [_compare(compiler, checkout.repo, top, each, base) for each in targets]
    held = [
        (target, cells(each.compiled.program, each.compiled.outputs, each.compiled.waiting))
        for target, each in zip(targets, found, strict=True)
        if each.compiled.program
    ]
    several = len({each.environment.name for each in targets}) > 1
    return Comparisons(tuple(found), _moves(checkout.repo, base), columns(held) if several else ())


def _compare(compiler: "Compiler", repo: "Repository", top: Path, target: "Target", base: str | None) -> Comparison:
    from stowplan.compiler.diff.comparison import compare  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.risks.foreign import foreign, without  # noqa: PLC0415
    from stowplan.compiler.diff.risks.unvouched import judged  # noqa: PLC0415
    from stowplan.compiler.git.commit import merge_base  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import GitError, around  # noqa: PLC0415
    from stowplan.compiler.output.folder import scan  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415
    from stowplan.compiler.pipeline import Options  # noqa: PLC0415

    report, out, advice = Report(), top / target.name, again(repo, top)
    try:
        base = base and merge_base(around(top, repo.folder), base)
        before = _before(repo, top, target, base)
        compiled = compiler.synth(target, out, Options(base=judged(before, base)), report)
        if report.failed:
            Ending(repo.folder, report, compiled.texts, Format.TEXT, advice).finish({})
        found = foreign(compiled.files, scan(out), compiled.committed, before if base else None)
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
    except OSError as error:
        report.add(unusable(out, error))
        Ending(repo.folder, report, {}, Format.TEXT, advice).finish({})
    before = without(found, before, compiled.files)
    return Comparison(target.name, [*found, *compare(before, compiled.outputs)], compiled, before)


def _before(repo: "Repository", top: Path, target: "Target", base: str | None) -> dict[str, bytes]:
    """Return the files of a target's output below the folder `top`, in the commit `base` or as it is."""
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.base import at_commit, on_disk  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import around  # noqa: PLC0415

    if not base:
        return on_disk(top / target.name)
    work_tree = around(top, repo.folder)
    return at_commit(work_tree, adoption.at_commit(target, work_tree, top, base), base)


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
