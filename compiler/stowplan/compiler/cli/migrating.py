"""The command `migrate`."""

from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, FormatOption
from stowplan.compiler.diagnostics.report import Report

Paths = Annotated[list[Path], typer.Argument(metavar="FILE...", help="YAML files, or folders to search for them.")]


def migrate(
    files: Paths,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if a file holds what would be rewritten.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Rewrite legacy spellings in your files as the canonical ones. Comments and layout stay.

    Example: stowplan migrate specs --check
    """
    from stowplan.compiler.migrate import files as rewriting  # noqa: PLC0415 - start-up time

    report = Report()
    done = rewriting.rewrite(rewriting.yaml_files(files), report, check=check)
    word = "would rewrite" if check else "rewrote"
    ending = Ending(Path(), report, done.texts, output_format)
    lines = [f"{word} {name}" for name in done.changed] or ["Nothing to rewrite."]
    ending.finish({"files": done.changed}, lines, failed=check and bool(done.changed))
