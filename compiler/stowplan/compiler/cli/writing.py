"""Writing of the one file that a command makes."""

from pathlib import Path

import typer


def write(file: Path, text: str, option: str) -> None:
    """Write a file in one step, in UTF-8 and through no link, and remove what killed commands left beside it.

    Raises `typer.BadParameter` about `option` if that is impossible.
    """
    from stowplan.compiler.repository import own_files  # noqa: PLC0415 - start-up time

    try:
        own_files.clear(file.parent)
        own_files.replace(file, text.encode())
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror}.", param_hint=option) from None
