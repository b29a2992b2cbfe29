"""Writing of files in folders where other people may have put links, such as the checkout of a pull request."""

import re
from contextlib import suppress
from errno import EINVAL, ENOTDIR
from pathlib import Path
from secrets import token_hex

_TEMPORARY = re.compile(r"\.stowplan-[0-9a-f]{32}")


def make_folder(folder: Path, below: Path) -> None:
    """Make `folder` and its parents. Raises `OSError`, also if `folder` or a parent of it below `below` is a link."""
    between = (folder, *folder.parents)[: len(folder.parts) - len(below.parts)]
    for each in reversed(between):
        if each.is_symlink():
            raise NotADirectoryError(ENOTDIR, "it is a link, and nothing is written through links", str(each))
    folder.mkdir(parents=True, exist_ok=True)


def replace(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a whole file in one step. A link in its place is replaced, never followed.

    `mode`: the permission bits; by default the ones of a new file. Raises `OSError` that names `path`, also if a
    device, a pipe or a socket is there or behind the link.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(EINVAL, "it is a device, a pipe or a socket, and only files are replaced", str(path))
    try:
        while not _replaced(path, content, mode):
            pass
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def clear(folder: Path) -> None:
    """Remove the temporary files that killed commands left in `folder`; what cannot be removed stays.

    A command that is writing one now writes it again.
    """
    with suppress(OSError):
        for each in [each for each in folder.iterdir() if _TEMPORARY.fullmatch(each.name)]:
            each.unlink(missing_ok=True)


def _replaced(path: Path, content: bytes, mode: int | None) -> bool:
    """Whether the file was written: another command may have cleared the temporary file away."""
    # A name of its own for each call: other commands may write the same file now, and users may have any other name.
    temporary = path.with_name(f".stowplan-{token_hex(16)}")
    try:
        # Exclusive creation follows no link.
        with temporary.open("xb") as file:
            file.write(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True
