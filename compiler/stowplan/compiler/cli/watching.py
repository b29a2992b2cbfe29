"""The command `watch`."""

import signal
from pathlib import Path

import typer

from stowplan.compiler.cli.ending import advising
from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import Out, PlatformOption, Repo, command, repository, writable_output


def watch(repo: Repo = Path(), out: Out = None, *, env: EnvOption = None, platform: PlatformOption = None) -> None:
    """Compile again whenever a spec or the platform file is saved. Ctrl-C ends it.

    Example: stowplan watch my-repo
    """
    from stowplan.compiler.cli.results import counted_line, counts  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diagnostics.console import print_text, terminal  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415
    from stowplan.compiler.watch import EnvironmentGoneError, Watcher  # noqa: PLC0415

    source = repository(repo, platform)
    target = writable_output(out, source)
    chosen(Checkout(source), target, env)
    console = terminal()
    _interrupt_on_signals()
    try:
        for each in Watcher(source, target, env=env).rounds():
            print_text(console, advising(each.report.diagnostics, command(source, target)), each.texts)
            lines = [counted_line(place, counts(written)) for place, written in each.written]
            text = "nothing written" if each.report.failed else "\n".join(lines)
            typer.echo(f"{text} ({each.seconds:.2f} s)")
    except KeyboardInterrupt:
        return
    except EnvironmentGoneError as error:
        raise typer.BadParameter(str(error), param_hint="--env") from None


def _interrupt_on_signals() -> None:
    """Let SIGINT and SIGTERM end the command, even if the parent process ignores SIGINT.

    A shell without job control starts background commands that way, as do `nohup` and some CI runners.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
