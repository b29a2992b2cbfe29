"""The page about the commands, from what `--help` says."""

from collections.abc import Iterator
from typing import Any

import typer

from docs.reference import markdown, programs
from stowplan.compiler.cli import app

_TRANSFER = "stowplan-transfer"


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    group: Any = typer.main.get_command(app)
    yield "# Commands"
    yield ""
    yield "The exit code of each command is 0 when all is well, 1 when there are errors or a check found a difference,"
    yield "and 2 for wrong usage. `NO_COLOR=1` switches colours off."
    yield ""
    for name, command in group.commands.items():
        if not command.hidden:
            yield from _command(name, command)
    yield from _transfer()


def _transfer() -> Iterator[str]:
    yield f"## {_TRANSFER}"
    yield ""
    yield "The transfer agent as a command: [how](../guides/transfers.md#without-a-cluster). It needs the extra"
    yield "`agents` for Hugging Face Hubs and Git. The fields of its file are those of the"
    yield "[configuration of transfer](agents.md#configuration-of-transfer), its exit codes those of the agents, not"
    yield "the ones above."
    yield ""
    yield "```text"
    yield programs.text("transfer.command", program=_TRANSFER)
    yield "```"
    yield ""


def _command(name: str, command: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=f"stowplan {name}")
    yield f"## stowplan {name} {{ #{name} }}"
    yield ""
    yield markdown.plain(command.help or "").replace("\n\nExample: ", "\n\n    ")
    yield ""
    yield f"    stowplan {name} {' '.join(command.collect_usage_pieces(context))}"
    yield ""
    yield "| Argument or option | What it does |"
    yield "|---|---|"
    for parameter in command.get_params(context):
        names, text = parameter.get_help_record(context) or ("", "")
        if names:
            yield f"| `{names}` | {markdown.cell(text)} |"
    yield ""
