"""Everything below an open folder of a claim, however deep folders are nested there: walking and removing it.

Others may nest folders deeper than Python's stack or the number of open files allows, so nothing here recurses.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.agents.attempt.claim.folder import ClaimFolder, FolderEntry
from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.file_names import LONGEST_PATH

OPEN_LEVELS = 64
"""Number of nested folders that a walk keeps open. A deeper one is opened again after each folder in it."""

MOST_EMPTY = 1000
"""Maximum number of nested folders without files that are taken for such."""

Order = Callable[[FolderEntry], str]
"""Function by whose result the entries of a folder are sorted."""

LeftOut = Callable[[str, FolderEntry], bool]
"""Function that gets a path relative to the folder of the walk, and says whether the walk leaves it out."""


class Met(NamedTuple):
    """What a walk comes to."""

    path: str
    """Path relative to the folder of the walk."""
    entry: FolderEntry
    folder: ClaimFolder
    """The open folder that holds it, which the walk still uses: do not close it."""


@dataclass(slots=True)
class _Level:
    """One of the nested folders in which a walk is. `left` has the entries that it has not come to, the next one last.

    `folder` is None while it is closed.
    """

    folder: ClaimFolder | None
    prefix: str
    left: list[FolderEntry]


def walk(root: ClaimFolder, order: Order, left_out: LeftOut = lambda *_: False) -> Iterator[Met]:
    """Yield everything below a folder, each folder before its content, and the entries of a folder sorted by `order`.

    What is left out is neither yielded nor entered. What is removed meanwhile may be missing. Raises AttemptError (5)
    if a folder's path is longer than `LONGEST_PATH`, and OSError, for example if a link has got the place of a folder.
    """
    levels = [_Level(root, "", _sorted(root, order))]
    while levels:
        level = levels[-1]
        if not level.left:
            levels.pop()
            continue
        entry = level.left.pop()
        path = level.prefix + entry.name
        if left_out(path, entry):
            continue
        try:
            level.folder = level.folder or root.below(level.prefix)
            yield Met(path, entry, level.folder)
            if entry.is_folder:
                _check(root, path)
                inner = level.folder.folder(entry.name)
                levels.append(_Level(inner, f"{path}/", _sorted(inner, order)))
                if len(levels) > OPEN_LEVELS:
                    level.folder = None
        except FileNotFoundError:
            continue


def by_name(entry: FolderEntry) -> str:
    """Return the name: an `Order` of entries by the names themselves."""
    return entry.name


def by_key(entry: FolderEntry) -> str:
    """Return the name, with `/` after that of a folder: `a-b` comes before what is in `a`, which begins with `a/`."""
    return f"{entry.name}/" if entry.is_folder else entry.name


def _sorted(folder: ClaimFolder, order: Order) -> list[FolderEntry]:
    return sorted(folder.entries(), key=order, reverse=True)


def _check(root: ClaimFolder, path: str) -> None:
    if len(os.fsencode(path)) > LONGEST_PATH:
        message = (
            f"{root.where}/{path[:100]}… is a folder that is nested too deep: its path has more than {LONGEST_PATH}"
            " bytes. Move it up, or remove it"
        )
        raise AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)


def empty_folders(folder: ClaimFolder, name: str) -> list[str]:
    """Return the paths of a folder and of all folders below it, each before what is in it, if they hold nothing else.

    `name` is the path of the first one below the open `folder`, as are the returned paths. Empty if the folders hold
    anything but folders, if one cannot be read, or if there are more than `MOST_EMPTY`. Raises OSError if there is no
    folder at `name`.
    """
    found, left = list[str](), [name]
    while left:
        found.append(path := left.pop())
        try:
            inside = folder.below(path).entries(MOST_EMPTY + 1)
        except PermissionError:
            return []
        left += [f"{path}/{each.name}" for each in inside if each.is_folder]
        if len(found) + len(left) > MOST_EMPTY or not all(each.is_folder for each in inside):
            return []
    return found


def empty(folder: ClaimFolder) -> None:
    """Remove everything in a folder."""
    for each in folder.entries():
        (remove(folder, each.name) if each.is_folder else folder.remove_file(each.name))


def remove(folder: ClaimFolder, name: str) -> None:
    """Remove whatever has this name in a folder, with everything in it; nothing if nothing has it."""
    left = [name]
    while left:
        each = left.pop()
        found = folder.stat(each)
        if found is not None and stat.S_ISDIR(found.st_mode):
            left += _flattened(folder, each)
        else:
            folder.remove_file(each)


def _flattened(outer: ClaimFolder, name: str) -> list[str]:
    """Remove a folder and its files. Its own folders are moved to the outer one, and their names there returned."""
    moved: list[str] = []
    with suppress(FileNotFoundError):
        with outer.folder(name) as folder:
            for each in folder.entries():
                if each.is_folder:
                    moved.append(f".stowplan-{secrets.token_hex(8)}")
                    folder.move(each.name, outer, moved[-1])
                else:
                    folder.remove_file(each.name)
        outer.remove_folder(name)
    return moved
