"""Paths in a dataset, as specs name them, and the files at these paths on the mount. Links are never followed."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stowplan.agents.attempt.claim.folder import ClaimFolder, FolderEntry
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.control import INTERNAL_INODES
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY


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

    folder: ClaimFolder
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
    try:
        folder = ClaimFolder.at(mount, "/".join(names[:-1]))
    except FileNotFoundError:
        yield None
        return
    except NotADirectoryError as error:
        message = f"{'/'.join(names)!r} leads over a link or a file: {error.filename}"
        raise AttemptError(ExitCode.BAD_SPEC, "BadPath", message) from None
    with folder:
        own = os.fstat(folder.descriptor)
        found = folder.stat(names[-1]) if names else own
        if found and found.st_ino >= INTERNAL_INODES:
            raise AttemptError(
                ExitCode.BAD_SPEC, "BadPath", f"{'/'.join(names)!r} belongs to the mount, not to the dataset"
            )
        yield PathEntry(folder, own.st_ino, names[-1] if names else "", found)


def files(mount: Path, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield (path, inode number) of all regular files at or below a path, in the same order on every cluster node.

    `names` is a result of `parts`; yielded paths are relative to the dataset. Raises AttemptError: exit code 4 if
    nothing exists at the path, exit code 2 if it leads over a link or a file, or to an internal file of the mount.
    """
    with opened(mount, names) as entry:
        if entry is None or entry.found is None:
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is no {'/'.join(names)!r} in the dataset")
        mode, inode = entry.found.st_mode, entry.found.st_ino
    if stat.S_ISDIR(mode):
        with ClaimFolder.at(mount, "/".join(names)) as folder:
            yield from _below(folder, "/".join((*names, "")))
    elif stat.S_ISREG(mode):
        yield "/".join(names), inode


def _below(folder: ClaimFolder, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield (path, inode number) of all regular files in `folder` and its subfolders, sorted by name, depth first.

    `prefix` is what the paths of all these files relative to the dataset begin with.
    """

    def is_no_data(path: str, entry: FolderEntry) -> bool:
        return entry.inode >= INTERNAL_INODES or (not prefix and path == STATE_DIRECTORY)

    for path, entry, _ in walk(folder, by_name, is_no_data):
        if entry.is_file:
            yield prefix + path, entry.inode
