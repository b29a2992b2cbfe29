"""What a command compares: the output of the specs with an earlier output."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, command
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stowplan.compiler.diff.environments import Cells
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.pins.pin_changes import PinChange
    from stowplan.compiler.pipeline import Compiler
    from stowplan.compiler.repository.layout import Repository
    from stowplan.compiler.repository.load import Checkout
    from stowplan.compiler.review.scene import Scene, Scenes


def compared(checkout: "Checkout", top: Path, base: str | None, targets: "Sequence[Target]") -> "Scenes":
    """Compare what each target compiles to with its output below `top`: on the disk, or in an earlier commit.

    That commit is the `merge_base` of `base`; None means the disk. Writes nothing. If the specs have errors or a file
    cannot be read, prints that and raises `typer.Exit`. Raises `typer.BadParameter` if Git does not answer or has no
    commit `base`.
    """
    from stowplan.compiler.diff.environments import columns  # noqa: PLC0415 - start-up time
    from stowplan.compiler.git.work_tree import GitError  # noqa: PLC0415
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415
    from stowplan.compiler.pipeline import Compiler  # noqa: PLC0415
    from stowplan.compiler.review.scene import Scenes  # noqa: PLC0415

    try:
        with closing(ComposerPool(lasting=False)) as composer:
            compiler = Compiler(checkout, composer)
            found = [_compare(compiler, checkout.repo, top, each, base) for each in targets]
        moved = _moves(checkout, base)
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
    held = [(target, cells) for target, (_, cells) in zip(targets, found, strict=True)]
    several = len({each.environment.name for each in targets}) > 1
    return Scenes(tuple(scene for scene, _ in found), tuple(columns(held)) if several else (), moved)


def _compare(
    compiler: "Compiler", repo: "Repository", top: Path, target: "Target", base: str | None
) -> "tuple[Scene, Cells]":
    """Return what changes in the output of a target, and what it has of each spec. Raises `GitError`."""
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.comparison import compare  # noqa: PLC0415
    from stowplan.compiler.diff.environments import cells  # noqa: PLC0415
    from stowplan.compiler.diff.risks.foreign import foreign, without  # noqa: PLC0415
    from stowplan.compiler.diff.risks.unvouched import judged  # noqa: PLC0415
    from stowplan.compiler.git.commit import at_commit, merge_base  # noqa: PLC0415
    from stowplan.compiler.git.work_tree import around  # noqa: PLC0415
    from stowplan.compiler.output.folder import contents, scan  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415
    from stowplan.compiler.pipeline import Options  # noqa: PLC0415
    from stowplan.compiler.review.scene import Scene  # noqa: PLC0415

    report, out, advice = Report(), top / target.name, command(repo, top)
    try:
        if base:
            tree = around(top, repo.folder)
            base = merge_base(tree, base)
            folder = at_commit(tree, adoption.at_commit(target, tree, top, base), base)
            before = folder.read(folder.blobs)
        else:
            before = contents(out)
        compiled = compiler.synth(target, out, Options(base=judged(before, base)), report)
        if compiled.program is None:
            Ending(repo.folder, report, compiled.texts, Format.TEXT, advice).finish({})
        found = foreign(compiled.files, scan(out), compiled.committed, before if base else None)
    except OSError as error:
        report.add(unusable(out, error))
        Ending(repo.folder, report, {}, Format.TEXT, advice).finish({})
    before = without(found, before, compiled.files)
    changes = [*found, *compare(before, compiled.outputs)]
    held = cells(compiled.program, compiled.outputs, compiled.waiting)
    return Scene(target.name, before, compiled.outputs, changes, compiled.program), held


def _moves(checkout: "Checkout", base: str | None) -> "Sequence[PinChange] | None":
    """Return the pins that moved since the commit `base`; None without one: no output says by which pins it was made.

    A lock file at the base that is not valid counts as none; the present one was read without errors. Raises
    `GitError`.
    """
    if not base:
        return None
    from stowplan.compiler.git.commit import merge_base  # noqa: PLC0415 - start-up time
    from stowplan.compiler.git.work_tree import around  # noqa: PLC0415
    from stowplan.compiler.pins import lock_file  # noqa: PLC0415
    from stowplan.compiler.pins.pin_changes import pin_changes  # noqa: PLC0415
    from stowplan.compiler.repository.load import lock_at_commit  # noqa: PLC0415

    repo = checkout.repo
    top = around(repo.folder, repo.folder)
    return pin_changes(lock_at_commit(top, repo, merge_base(top, base)), lock_file.read(checkout.lock, Report()))
