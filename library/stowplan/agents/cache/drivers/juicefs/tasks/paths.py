"""Paths in a dataset, as specs name them, and the files at these paths on the mount. Links are never followed."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.control import INTERNAL_INODES
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def parts(path: str) -> tuple[str, ...]:
    """Split a path, relative to the dataset, into its names. The dataset itself has no names.

    Raises AttemptError (exit code 2) if the path may lead out of the dataset or into the state directory.
    """
    names = tuple(name for name in PurePosixPath(path.lstrip("/")).parts if name != ".")
    if ".." in names or "\0" in path:
        raise AttemptError(ExitCode.BAD_SPEC, "BadPath", f"{path!r} may lead out of the dataset")
    if names[:1] == (STATE_DIRECTORY,):
        raise AttemptError(ExitCode.BAD_SPEC, "BadPath", f"{path!r} is Stowplan's own, and no part of the dataset")
    return names


@dataclass(frozen=True, slots=True)
class PathEntry:
    """A name in an open folder, and what exists under that name."""

    folder: int
    """Descriptor of the folder."""
    folder_inode: int
    """Inode number of the folder."""
    name: str
    """Name in the folder; empty for the dataset itself."""
    found: os.stat_result | None
    """Attributes of the file or folder of that name; None if it does not exist."""


@contextmanager
def opened(mount: Path, names: tuple[str, ...]) -> Iterator[PathEntry | None]:
    """Open the parent folder of a path, and yield the entry for the last name of the path.

    `names` is a result of `parts`. Yields None if the parent folder is missing. Raises AttemptError (exit code 2) if
    the path leads over a link or a file, or to an internal file of the mount.
    """
    descriptor = os.open(mount, _FOLDER)
    try:
        for name in names[:-1]:
            try:
                below = os.open(name, _FOLDER, dir_fd=descriptor)
            except FileNotFoundError:
                yield None
                return
            except NotADirectoryError:
                message = f"{'/'.join(names)!r} leads over a link or a file, {name!r}"
                raise AttemptError(ExitCode.BAD_SPEC, "BadPath", message) from None
            os.close(descriptor)
            descriptor = below
        try:
            found = os.stat(names[-1] if names else ".", dir_fd=descriptor, follow_symlinks=False)
        except FileNotFoundError:
            found = None
        if found and found.st_ino >= INTERNAL_INODES:
            raise AttemptError(
                ExitCode.BAD_SPEC, "BadPath", f"{'/'.join(names)!r} belongs to the mount, not to the dataset"
            )
        yield PathEntry(descriptor, os.fstat(descriptor).st_ino, names[-1] if names else "", found)
    finally:
        os.close(descriptor)


def files(mount: Path, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield (path, inode number) of all regular files at or below a path, in the same order on every cluster node.

    `names` is a result of `parts`; yielded paths are relative to the dataset. Raises AttemptError (exit code 4) if
    nothing exists at the path.
    """
    with opened(mount, names) as entry:
        if entry is None or entry.found is None:
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is no {'/'.join(names)!r} in the dataset")
        mode, inode = entry.found.st_mode, entry.found.st_ino
    if stat.S_ISDIR(mode):
        yield from _below(mount.joinpath(*names), "/".join(names))
    elif stat.S_ISREG(mode):
        yield "/".join(names), inode


def _below(folder: Path, path: str) -> Iterator[tuple[str, int]]:
    """Yield (path, inode number) of all regular files in `folder` and its subfolders, sorted by name, depth first.

    `path` is the path of `folder` relative to the dataset. There is no recursion, since folders may be nested deeper
    than Python's stack allows.
    """
    left = [(folder, path, _entries(folder))]
    while left:
        where, above, entries = left[-1]
        if not entries:
            left.pop()
            continue
        name, inode, is_folder, is_file = entries.pop()
        if inode >= INTERNAL_INODES or (not above and name == STATE_DIRECTORY):
            continue
        full = f"{above}/{name}" if above else name
        if is_folder:
            left.append((where / name, full, _entries(where / name)))
        elif is_file:
            yield full, inode


def _entries(folder: Path) -> list[tuple[str, int, bool, bool]]:
    """Return (name, inode number, whether it is a folder, whether it is a regular file) of each entry of a folder.

    The list is sorted by name in reverse order.
    """
    with os.scandir(folder) as scan:
        found = [
            (each.name, each.inode(), each.is_dir(follow_symlinks=False), each.is_file(follow_symlinks=False))
            for each in scan
        ]
    return sorted(found, reverse=True)
