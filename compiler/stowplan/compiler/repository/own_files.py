"""Writing of files in folders where other people may have put links, such as the checkout of a pull request."""

from errno import ENOTDIR
from pathlib import Path
from secrets import token_hex


def make_folder(folder: Path, below: Path) -> None:
    """Make `folder` and its parents. Raises `OSError`, also if `folder` or a parent of it below `below` is a link."""
    between = (folder, *folder.parents)[: len(folder.parts) - len(below.parts)]
    for each in reversed(between):
        if each.is_symlink():
            raise NotADirectoryError(ENOTDIR, "it is a link, and nothing is written through links", str(each))
    folder.mkdir(parents=True, exist_ok=True)


def replace(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a whole file in one step. A link in its place is replaced, never followed. Raises `OSError`.

    `mode`: the permission bits; by default the ones of a new file.
    """
    # A name of its own for each call: other commands may write the same file now, and users may have any other name.
    temporary = path.with_name(f".stowplan-{token_hex(16)}")
    try:
        # Exclusive creation follows no link.
        with temporary.open("xb") as file:
            file.write(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
