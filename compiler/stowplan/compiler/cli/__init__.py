"""The command line: each command parses its options, calls one function and prints the result.

Exit codes: 0 for success, 1 if there are errors or `--check` found differences, 2 for wrong usage. Commands import what
they need only when they are called, so that `--help` answers at once.
"""

import gc
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from stowplan.compiler.cli.adopting import adopt
from stowplan.compiler.cli.compiling import synth, validate
from stowplan.compiler.cli.explaining import explain
from stowplan.compiler.cli.generating import crds, init, schema
from stowplan.compiler.cli.migrating import migrate
from stowplan.compiler.cli.pinning import pin
from stowplan.compiler.cli.reporting import status
from stowplan.compiler.cli.retiring import retire
from stowplan.compiler.cli.review.commenting import comment
from stowplan.compiler.cli.review.comparing import diff
from stowplan.compiler.cli.review.reviewing import report
from stowplan.compiler.cli.watching import watch
from stowplan.library.composition.node import NodeError

app = typer.Typer(
    name="stowplan",
    help="Compile specs of training data and training jobs into Kubernetes manifests that Argo CD syncs.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_COMMANDS = (
    init,
    validate,
    synth,
    watch,
    diff,
    report,
    comment,
    pin,
    status,
    retire,
    adopt,
    migrate,
    explain,
    crds,
    schema,
)
for command in _COMMANDS:
    app.command()(command)


def main() -> None:
    """Entry point of the `stowplan` command."""
    # Nearly all objects live until the end of a command: garbage collection at Python's pace takes a tenth of its time.
    gc.set_threshold(50_000, 20, 20)
    # The search for pydantic plugins reads the metadata of all installed packages; no plugin is wanted here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal or pipe without UTF-8 cannot show all characters of file names and excerpts.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except NodeError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None
    except BrokenPipeError:
        # The reader of the output has exited, as with `| head`; nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    finally:
        # Otherwise Python collects garbage among all objects before it exits.
        gc.freeze()


@app.callback(invoke_without_command=True)
def top(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Compile specs of training data and training jobs into Kubernetes manifests that Argo CD syncs."""
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 - start-up time

        typer.echo(f"stowplan {installed('stowplan')}")
        raise typer.Exit
