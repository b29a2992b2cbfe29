"""Writing of the one file that a command makes."""

from pathlib import Path
from stat import S_ISCHR, S_ISFIFO, S_ISREG

import typer


def write(file: Path, text: str, option: str) -> None:
    """Write a file in one step, in UTF-8 and through no link, and remove what killed commands left beside it.

    Raises `typer.BadParameter` about `option`, such as `--output`, if that is impossible.
    """
    from stowplan.compiler.repository import own_files  # noqa: PLC0415 - start-up time

    try:
        own_files.clear(file.parent)
        own_files.replace(file, text.encode())
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror}.", param_hint=option) from None


_OPENED = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders of links to what a shell has opened, such as /dev/stdout: what is behind these is written to."""


def is_stream(file: Path) -> bool:
    """Whether a file takes what is written to it and has no whole content: a pipe, a terminal, /dev/stdout."""
    opened = file.parent in _OPENED
    try:
        mode = file.stat(follow_symlinks=opened).st_mode
    except OSError:
        return False
    return S_ISFIFO(mode) or S_ISCHR(mode) or (opened and S_ISREG(mode))


def append(file: Path, text: str, option: str) -> None:
    """Write to a stream, in UTF-8. Raises `typer.BadParameter` about `option` if that is impossible."""
    try:
        with file.open("ab") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror}.", param_hint=option) from None
