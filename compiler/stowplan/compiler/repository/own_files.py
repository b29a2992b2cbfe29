"""Writing of files in folders where other people may have put links, such as the checkout of a pull request."""

from errno import ENOTDIR
from pathlib import Path


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
    temporary = path.with_name(f".{path.name}.stowplan")
    temporary.unlink(missing_ok=True)
    try:
        # Exclusive creation follows no link either.
        with temporary.open("xb") as file:
            file.write(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
