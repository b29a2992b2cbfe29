"""The command line: parses options, calls one function, prints what came of it.

Exit codes: 0 fine, 1 errors or `--check` found differences, 2 wrong usage. Commands import what they need when they
run, so that `--help` answers at once.
"""

import gc
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from stowplan.compiler.cli.comparing import diff
from stowplan.compiler.cli.compiling import synth, validate
from stowplan.compiler.cli.explaining import explain
from stowplan.compiler.cli.generating import crds, init, schema
from stowplan.compiler.cli.migrating import migrate
from stowplan.compiler.cli.reporting import status
from stowplan.compiler.cli.watching import watch

app = typer.Typer(
    name="stowplan",
    help="Compile specs of training data and training jobs into Kubernetes manifests that Argo CD syncs.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (init, validate, synth, watch, diff, status, migrate, explain, crds, schema):
    app.command()(command)


def main() -> None:
    """Entry point of the `stowplan` command."""
    # A run keeps nearly all it makes until its end: looking for garbage at Python's own pace takes a tenth of its time.
    gc.set_threshold(50_000, 20, 20)
    # Looking for plugins of pydantic reads the metadata of all packages that are installed; none shall have a say here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # File names and excerpts may hold what a terminal or pipe without UTF-8 cannot show.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`; nothing is left to tell anyone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    finally:
        # Or else Python looks for garbage among all there is before it ends.
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
