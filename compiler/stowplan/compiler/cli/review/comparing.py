"""The command `diff`."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import Out, PlatformOption, Repo, repository, writable_output
from stowplan.compiler.cli.review.changes import compared
from stowplan.compiler.cli.review.risk_gates import FailOn, stop_on

if TYPE_CHECKING:
    from stowplan.compiler.diff.change import Change
    from stowplan.compiler.diff.environments import EnvironmentColumn
    from stowplan.compiler.pins.pin_changes import PinChange
    from stowplan.compiler.review.scene import Scenes


class DiffFormat(StrEnum):
    """Format in which `diff` prints changes."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


Base = Annotated[
    str | None,
    typer.Option(metavar="REV", help="Commit to compare with.", show_default="the output folder as it is"),
]
FormatOption = Annotated[DiffFormat, typer.Option("--format", help="For a terminal, for a comment, or for programs.")]


def diff(
    repo: Repo = Path(),
    out: Out = None,
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    base: Base = None,
    shape: FormatOption = DiffFormat.TEXT,
    fail_on: FailOn = None,
) -> None:
    """Say what the specs change in the output, object by object, the riskiest first. Writes nothing.

    With environments, say it for each, and in what they differ: which runs, images and revisions each is behind.

    Example: stowplan diff --base origin/main --format markdown
    """
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415 - start-up time

    source = repository(repo, platform)
    top = writable_output(out, source)
    checkout = Checkout(source)
    targets = chosen(checkout, top, env)
    found = compared(checkout, top, base, targets)
    if not targets[0].name:
        _print(found.all[0].changes, shape, found.moved)
    else:
        _print_all(found, shape)
    stop_on(found, fail_on)


def _print_all(found: "Scenes", shape: DiffFormat) -> None:
    """Print the changes of each target and, with several environments, how these differ from each other."""
    from stowplan.compiler.diff.change import records  # noqa: PLC0415 - start-up time

    if shape is DiffFormat.JSON:
        from stowplan.compiler.diff import environments_wording  # noqa: PLC0415

        parts: dict[str, Any] = {"environments": {each.name: {"changes": records(each.changes)} for each in found.all}}
        parts |= _pins(found.moved)
        typer.echo(json.dumps(parts | (environments_wording.records(found.columns) if found.columns else {}), indent=2))
        return
    for index, each in enumerate(found.all):
        heading = f"# {each.name}\n" if shape is DiffFormat.MARKDOWN else f"{each.name}:"
        typer.echo(heading if index == 0 else f"\n{heading}")
        _print(each.changes, shape)
    _print_moves(found.moved, shape)
    if found.columns:
        typer.echo()
        _print_columns(found.columns, shape)


def _print_columns(found: "Sequence[EnvironmentColumn]", shape: DiffFormat) -> None:
    from stowplan.compiler.diagnostics.console import print_whole  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff import environments_wording as wording  # noqa: PLC0415
    from stowplan.compiler.diff.environments import different  # noqa: PLC0415

    if shape is DiffFormat.MARKDOWN:
        typer.echo(wording.markdown(found))
        return
    if different(found):
        print_whole(wording.table(found))
    for line in wording.lines(found):
        typer.echo(line)


def _pins(found: "Sequence[PinChange] | None") -> dict[str, Any]:
    from stowplan.compiler.pins.pin_changes import records  # noqa: PLC0415 - start-up time

    return {} if found is None else {"pins": records(found)}


def _print_moves(found: "Sequence[PinChange] | None", shape: DiffFormat) -> None:
    """Print the pins that moved, below the changes of all targets."""
    if found and shape is DiffFormat.MARKDOWN:
        from stowplan.compiler.diff.markdown import pins  # noqa: PLC0415 - start-up time

        typer.echo("".join(pins(found)))
    elif found:
        from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time
        from stowplan.compiler.diff.terminal import pins as lines_of_pins  # noqa: PLC0415

        console = terminal()
        for line in lines_of_pins(found):
            console.print(line, soft_wrap=True, highlight=False)


def _print(changes: "Sequence[Change]", shape: DiffFormat, moved: "Sequence[PinChange] | None" = None) -> None:
    if shape is DiffFormat.MARKDOWN:
        from stowplan.compiler.diff.markdown import comment  # noqa: PLC0415 - start-up time

        typer.echo(comment(changes, moved or ()))
    elif shape is DiffFormat.JSON:
        from stowplan.compiler.diff.change import records  # noqa: PLC0415 - start-up time

        typer.echo(json.dumps({"changes": records(changes), **_pins(moved)}, indent=2))
    else:
        from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time
        from stowplan.compiler.diff.terminal import lines  # noqa: PLC0415

        console = terminal()
        for line in lines(changes):
            console.print(line, soft_wrap=True, highlight=False)
        _print_moves(moved, shape)
