"""The command `diff`."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import Out, PlatformOption, Repo, repository, writable_output
from stowplan.compiler.cli.results import of_targets
from stowplan.compiler.cli.review.changes import compared
from stowplan.compiler.cli.review.risk_gates import FailOn, stop_on

if TYPE_CHECKING:
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
    found = compared(checkout, top, base, chosen(checkout, top, env))
    if shape is DiffFormat.JSON:
        typer.echo(json.dumps(_record(found), indent=2))
    elif shape is DiffFormat.MARKDOWN:
        for part in _markdown(found):
            typer.echo(part)
    else:
        _print(found)
    stop_on(found, fail_on)


def _record(found: "Scenes") -> dict[str, Any]:
    """Return the comparison as data for programs."""
    from stowplan.compiler.diff import environments_wording  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.change import records  # noqa: PLC0415
    from stowplan.compiler.pins.pin_changes import records as records_of_pins  # noqa: PLC0415

    parts = of_targets({each.name: {"changes": records(each.changes)} for each in found.all})
    pins = {} if found.moved is None else {"pins": records_of_pins(found.moved)}
    return parts | pins | (environments_wording.records(found.columns) if found.columns else {})


def _markdown(found: "Scenes") -> Iterator[str]:
    """Yield the parts of a comment: each target, the pins and, with several environments, their differences."""
    from stowplan.compiler.diff import environments_wording  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.markdown import comment, pins  # noqa: PLC0415

    if not found.all[0].name:
        yield comment(found.all[0].changes, found.moved or ())
        return
    for index, each in enumerate(found.all):
        heading = f"# {each.name}\n"
        yield heading if index == 0 else f"\n{heading}"
        yield comment(each.changes)
    if found.moved:
        yield "".join(pins(found.moved))
    if found.columns:
        yield ""
        yield environments_wording.markdown(found.columns)


def _print(found: "Scenes") -> None:
    """Print the changes of each target for people, then the pins and, with several environments, their differences."""
    from stowplan.compiler.diagnostics.console import print_whole, terminal  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff import environments_wording  # noqa: PLC0415
    from stowplan.compiler.diff.environments import different  # noqa: PLC0415
    from stowplan.compiler.diff.terminal import lines, pins  # noqa: PLC0415

    console = terminal()
    for index, each in enumerate(found.all):
        if each.name:
            typer.echo(f"{each.name}:" if index == 0 else f"\n{each.name}:")
        for line in lines(each.changes):
            console.print(line, soft_wrap=True, highlight=False)
    for line in pins(found.moved or ()):
        console.print(line, soft_wrap=True, highlight=False)
    if found.columns:
        typer.echo()
        if different(found.columns):
            print_whole(environments_wording.table(found.columns))
        for text in environments_wording.lines(found.columns):
            typer.echo(text)
