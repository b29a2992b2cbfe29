"""The command `watch`."""

import signal
from contextlib import suppress
from pathlib import Path

import typer

from stowplan.compiler.cli.options import Out, Repo, apart_from_specs, folder


def watch(repo: Repo = Path(), out: Out = None) -> None:
    """Compile again whenever a spec or the platform file is saved. Ctrl-C ends it.

    Example: stowplan watch my-repo
    """
    from stowplan.compiler.cli.compiling import written_line  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diagnostics.console import print_text, terminal  # noqa: PLC0415
    from stowplan.compiler.watch import Watcher  # noqa: PLC0415

    source = folder(repo)
    target = apart_from_specs(out or source / "out", source)
    console = terminal()
    _interrupt_on_signals()
    with suppress(KeyboardInterrupt):
        for each in Watcher(source, target).rounds():
            print_text(console, each.report.diagnostics, each.compiled.texts)
            text = "nothing written" if each.report.failed else written_line(target, each.written)
            typer.echo(f"{text} ({each.seconds:.2f} s)")


def _interrupt_on_signals() -> None:
    """Let SIGINT and SIGTERM end the command, even if the parent process ignores SIGINT.

    A shell without job control starts background commands that way, as do `nohup` and some CI runners.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
