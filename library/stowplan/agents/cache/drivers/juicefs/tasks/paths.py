"""Paths of a dataset in specs, and their files on the mount. Links are never followed."""

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
    """Split a path below the dataset.

    Raises AttemptError (exit code 2) if it may lead out of the dataset or into the state directory.
    """
    names = tuple(name for name in PurePosixPath(path.lstrip("/")).parts if name != ".")
    if ".." in names or "\0" in path:
        raise AttemptError(ExitCode.BAD_SPEC, "BadPath", f"{path!r} may lead out of the dataset")
    if names[:1] == (STATE_DIRECTORY,):
        raise AttemptError(ExitCode.BAD_SPEC, "BadPath", f"{path!r} is Stowplan's own, and no part of the dataset")
    return names


@dataclass(frozen=True, slots=True)
class PathEntry:
    """Entry of a folder."""

    folder: int
    """Descriptor of the folder."""
    folder_inode: int
    name: str
    found: os.stat_result | None
    """Attributes of the entry; None if it does not exist."""


@contextmanager
def opened(mount: Path, names: tuple[str, ...]) -> Iterator[PathEntry | None]:
    """Open the parent folder of a path and yield its last name; None if the parent is missing.

    AttemptError (exit code 2) for a link.
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
    """Yield path and inode of all files at or below a path, in the same order on every node.

    AttemptError (exit code 4) if it is missing.
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
    """Walk depth first, by name. Folders may be nested deeper than Python recurses, so the open ones are a list."""
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
    """Return name, inode, is-folder and is-file of each entry, in reverse order of names."""
    with os.scandir(folder) as scan:
        found = [
            (each.name, each.inode(), each.is_dir(follow_symlinks=False), each.is_file(follow_symlinks=False))
            for each in scan
        ]
    return sorted(found, reverse=True)
