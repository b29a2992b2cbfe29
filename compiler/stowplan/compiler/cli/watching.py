"""The command `watch`."""

from pathlib import Path

import typer

from stowplan.compiler.cli.options import Out, Repo, apart_from_specs, folder


def watch(repo: Repo = Path(), out: Out = None) -> None:
    """Compile again whenever a spec or the platform file is saved. Ctrl-C ends it.

    Example: stowplan watch my-repo
    """
    from stowplan.compiler.cli.compiling import written_line  # noqa: PLC0415 - start-up time
    from stowplan.compiler.console import print_text, terminal  # noqa: PLC0415
    from stowplan.compiler.watch import Watcher  # noqa: PLC0415

    source = folder(repo)
    target = apart_from_specs(out or source / "out", source)
    console = terminal()
    for each in Watcher(source, target).rounds():
        print_text(console, each.report.diagnostics, each.compiled.texts)
        text = "nothing written" if each.report.failed else written_line(target, each.written)
        typer.echo(f"{text} ({each.seconds:.2f} s)")
