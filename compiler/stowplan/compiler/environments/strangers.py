"""Entries of the output folder of a repository with environments that lie beside the folders of its targets."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from stowplan.compiler.output.folder import GIT
from stowplan.compiler.output.paths import parents


def strangers(out: Path, folders: Collection[str]) -> Iterator[str]:
    """Yield the paths of the entries in `out` that are none of `folders` and hold none of them.

    All are relative to `out`; a folder ends in a slash. A link in the place of a folder is an entry like any other, and
    an empty folder is none.
    Yields nothing if `out` cannot be read, or is the top of a Git work tree, which other files of this tree lie in too.
    """
    above = {each for folder in folders for each in parents(folder)}
    if os.path.lexists(out / GIT):
        return
    for level in ("", *sorted(above)):
        for name, is_folder in _listed(out / level):
            path = f"{level}/{name}".lstrip("/")
            if not is_folder:
                yield path
            elif path not in {*folders, *above} and _listed(out / path):
                yield f"{path}/"


def _listed(folder: Path) -> list[tuple[str, bool]]:
    """Return the names of the entries of a folder, and which of them are folders; nothing of what is none."""
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []
