"""The command `migrate`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, FormatOption
from stowplan.compiler.diagnostics.report import Report


class MigrationTarget(StrEnum):
    """What specs are rewritten as."""

    NATIVE = "native"


Paths = Annotated[list[Path], typer.Argument(metavar="FILE...", help="YAML files, or folders to search for them.")]


def migrate(
    files: Paths,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if a file holds what would be rewritten.")
    ] = False,
    to: Annotated[
        MigrationTarget | None,
        typer.Option(help="`native`: rewrite specs of the old kinds as Dataset, DatasetTask and Training."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Rewrite legacy spellings in your files as the canonical ones. Comments and layout stay.

    With `--to native`, specs of the old kinds become native ones where their meaning is kept, with their comments; a
    finding says why another spec stays as it is. A migrated spec is a new run: `stowplan explain SP429`.

    Example: stowplan migrate specs --check
    """
    from stowplan.compiler.migrate import files as rewriting  # noqa: PLC0415 - start-up time

    report = Report()
    done = rewriting.rewrite(rewriting.yaml_files(files), report, check=check, to_native=to is MigrationTarget.NATIVE)
    word = "would rewrite" if check else "rewrote"
    ending = Ending(Path(), report, done.texts, output_format)
    lines = [f"{word} {name}" for name in done.changed] or ["Nothing to rewrite."]
    ending.finish({"files": done.changed}, lines, failed=check and bool(done.changed))
