"""The command `diff`."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import Format, Out, PlatformOption, Repo, again, repository, writable_output
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.compiling.alike import Made
    from stowplan.compiler.diff.change import Change
    from stowplan.compiler.diff.environments import Column
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.pins.moves import Move
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.repository.layout import Repository


class Shape(StrEnum):
    """Format in which `diff` prints changes."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


_UNLIMITED = 1_000


Base = Annotated[
    str | None,
    typer.Option(metavar="REV", help="Commit to compare with.", show_default="the output folder as it is"),
]
ShapeOption = Annotated[Shape, typer.Option("--format", help="For a terminal, for a comment, or for programs.")]


def diff(
    repo: Repo = Path(),
    out: Out = None,
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    base: Base = None,
    shape: ShapeOption = Shape.TEXT,
) -> None:
    """Say what the specs change in the output, object by object, the riskiest first. Writes nothing.

    With environments, say it for each, and in what they differ: which runs, images and revisions each is behind.

    Example: stowplan diff --base origin/main --format markdown
    """
    source = repository(repo, platform)
    top = writable_output(out, source)
    targets = chosen(source, env)
    if not targets:
        changes = _changes(source, top, base, advice=again(source, top))[0]
        _print(changes, shape, _moves(source, base))
    else:
        _print_all(source, top, base, targets, shape)


def _print_all(source: "Repository", top: Path, base: str | None, targets: "Sequence[Target]", shape: Shape) -> None:
    """Print the changes of each target and, with several environments, how these differ from each other."""
    from stowplan.compiler.compiling.alike import of_environment  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.environments import cells, columns  # noqa: PLC0415
    from stowplan.compiler.diff.records import records  # noqa: PLC0415

    changed, held, first = {}, [], None
    for target in targets:
        changed[target.name], compiled = _changes(
            source,
            top / target.name,
            base,
            advice=again(source, top),
            place=target,
            first=of_environment(first, target),
        )
        first = compiled.made or first
        held.append((target, cells(compiled.program, compiled.outputs, compiled.waiting) if compiled.program else {}))
    found = columns(held) if len({each.environment.name for each in targets}) > 1 else []
    if shape is Shape.JSON:
        from stowplan.compiler.diff import environments_wording  # noqa: PLC0415

        parts: dict[str, Any] = {"environments": {name: {"changes": records(own)} for name, own in changed.items()}}
        parts |= _pins(_moves(source, base))
        typer.echo(json.dumps(parts | (environments_wording.records(found) if found else {}), indent=2))
        return
    for index, (name, changes) in enumerate(changed.items()):
        heading = f"# {name}\n" if shape is Shape.MARKDOWN else f"{name}:"
        typer.echo(heading if index == 0 else f"\n{heading}")
        _print(changes, shape)
    _print_moves(_moves(source, base), shape)
    if found:
        typer.echo()
        _print_columns(found, shape)


def _print_columns(found: "Sequence[Column]", shape: Shape) -> None:
    from rich.console import Console  # noqa: PLC0415 - start-up time

    from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415
    from stowplan.compiler.diff import environments_wording as wording  # noqa: PLC0415
    from stowplan.compiler.diff.environments import different  # noqa: PLC0415

    if shape is Shape.MARKDOWN:
        typer.echo(wording.markdown(found))
        return
    console = terminal()
    if different(found):
        # In a pipe no line is cut: the reader may search for any word.
        (console if console.is_terminal else Console(width=_UNLIMITED)).print(wording.table(found))
    for line in wording.lines(found):
        typer.echo(line)


def _changes(
    source: "Repository",
    target: Path,
    base: str | None,
    *,
    advice: str,
    place: "Target | None" = None,
    first: "Made | None" = None,
) -> "tuple[Sequence[Change], Compiled]":
    """Return the changes of the output folder `target`, and what it was compiled to.

    `place` is the environment that it is for, if there are any, and `first` what another of its clusters was made from.
    `advice` is what advised commands need, see `options.again`.
    """
    from stowplan.compiler.diff.comparison import compare  # noqa: PLC0415
    from stowplan.compiler.diff.risks.foreign import foreign, without  # noqa: PLC0415
    from stowplan.compiler.diff.risks.unvouched import judged  # noqa: PLC0415
    from stowplan.compiler.output.folder import scan  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415
    from stowplan.compiler.repository.commit import BaseError  # noqa: PLC0415 - start-up time

    report = Report()
    try:
        before = _before(target, base, place)
        compiled = compile_repository(source, target, report, base=judged(before, base), target=place, first=first)
        if report.failed:
            Ending(source.folder, report, compiled.texts, Format.TEXT, advice).finish({})
        found = foreign(compiled.files, scan(target), compiled.committed, before if base else None)
    except BaseError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
    except OSError as error:
        report.add(unusable(target, error))
        Ending(source.folder, report, {}, Format.TEXT, advice).finish({})
    changes = [*found, *compare(without(found, before, compiled.files), compiled.outputs)]
    return changes, compiled


def _before(out: Path, base: str | None, place: "Target | None") -> dict[str, bytes]:
    """Return the files of the output folder `out`, in the commit `base` or as it is; those that `place` takes over."""
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.base import at_commit, on_disk  # noqa: PLC0415
    from stowplan.compiler.environments.target import names  # noqa: PLC0415
    from stowplan.compiler.output.inventory_files import below  # noqa: PLC0415

    folder = adoption.at_commit(place, out, base) if base else adoption.source(place, out) or out
    found = at_commit(folder, base) if base else on_disk(folder)
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
    from stowplan.compiler.pins.moves import moves  # noqa: PLC0415
    from stowplan.compiler.repository.commit import BaseError  # noqa: PLC0415
    from stowplan.compiler.repository.load import lock_of  # noqa: PLC0415

    try:
        return moves(lock_at_commit(source, base), lock_of(source))
    except BaseError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None


def _pins(found: "Sequence[Move] | None") -> dict[str, Any]:
    from stowplan.compiler.pins.moves import records  # noqa: PLC0415 - start-up time

    return {} if found is None else {"pins": records(found)}


def _print_moves(found: "Sequence[Move] | None", shape: Shape) -> None:
    """Print the pins that moved, below the changes of all targets."""
    if found and shape is Shape.MARKDOWN:
        from stowplan.compiler.diff.markdown import pins  # noqa: PLC0415 - start-up time

        typer.echo("".join(pins(found)))
    elif found:
        from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time
        from stowplan.compiler.diff.terminal import pins as lines_of_pins  # noqa: PLC0415

        console = terminal()
        for line in lines_of_pins(found):
            console.print(line, soft_wrap=True, highlight=False)


def _print(changes: "Sequence[Change]", shape: Shape, moved: "Sequence[Move] | None" = None) -> None:
    if shape is Shape.MARKDOWN:
        from stowplan.compiler.diff.markdown import comment  # noqa: PLC0415 - start-up time

        typer.echo(comment(changes, moved or ()))
    elif shape is Shape.JSON:
        from stowplan.compiler.diff.records import records  # noqa: PLC0415 - start-up time

        typer.echo(json.dumps({"changes": records(changes), **_pins(moved)}, indent=2))
    else:
        from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time
        from stowplan.compiler.diff.terminal import lines  # noqa: PLC0415

        console = terminal()
        for line in lines(changes):
            console.print(line, soft_wrap=True, highlight=False)
        _print_moves(moved, shape)
