"""The commands that write what is made from the models: `crds` and `schema`."""

from pathlib import Path
from typing import Annotated

import typer


def crds(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("crds")) -> None:
    """Write the CustomResourceDefinitions of all kinds."""
    from stowplan.compiler import export  # noqa: PLC0415 - start-up time

    _write_files(folder, export.crds())


def schema(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("schema")) -> None:
    """Write the JSON Schemas of all kinds and of the platform file, for editors."""
    from stowplan.compiler import export  # noqa: PLC0415 - start-up time

    _write_files(folder, export.schemas())


def _write_files(folder: Path, files: dict[str, str]) -> None:
    from stowplan.compiler.export import write_files  # noqa: PLC0415 - start-up time

    try:
        write_files(folder, files)
    except OSError as error:
        raise typer.BadParameter(f"{folder}: {error.strerror}.", param_hint="FOLDER") from None
    for name in sorted(files):
        typer.echo(str(folder / name))
