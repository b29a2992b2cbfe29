"""Digests of output files, reused by the rule of Git's index for its work tree (https://git-scm.com/docs/racy-git).

A file counts as unchanged if its `lstat` equals the one recorded with its digest, and if it was last changed well
before that record: two changes within one tick of the clock may look the same. Every other file is hashed again.
"""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b, sha256
from typing import NamedTuple

from stowplan.compiler.output.folder import OutputFolder

_TICK_NANOSECONDS = 2_000_000_000
"""Coarsest resolution of a file system's timestamps: FAT has two seconds."""


class Status(NamedTuple):
    """The part of a file's `lstat` by which a change or replacement is noticed. Times are in nanoseconds."""

    device: int
    inode: int
    size: int
    mode: int
    mtime: int
    ctime: int


class HashedFile(NamedTuple):
    """Status and digest of a file at the moment it was hashed."""

    status: Status
    sha256: str


class OutputIndex(NamedTuple):
    """The regular files of an output folder by path, hashed at the time `at` (nanoseconds since 1970) or later."""

    at: int = 0
    files: Mapping[str, HashedFile] = {}

    def look(self, tree: OutputFolder) -> "OutputIndex":
        """Return a new index of `tree`, the listed output folder. Files that cannot be read are left out.

        A file that is not in this index, or has another status, is hashed.
        """
        now, found = time.time_ns(), dict[str, HashedFile]()
        for path in tree.files:
            with suppress(OSError):
                place = f"{tree.root}/{path}"
                status, known = _status(place), self.files.get(path)
                if known is not None and known.status == status and self._is_older(status):
                    found[path] = known
                else:
                    found[path] = HashedFile(status, _sha256(place))
        return OutputIndex(now, found)

    @property
    def settled(self) -> bool:
        """Whether every file was last changed so long before it was hashed that its status proves it unchanged."""
        return all(self._is_older(known.status) for known in self.files.values())

    def digest(self, tree: OutputFolder) -> str:
        """Return one digest of the names in `tree`, the listed output folder, and of the contents in this index."""
        names = (tree.others, tree.leftovers, tree.empty)
        lines = ["\0".join(sorted(each)) for each in names]
        lines += sorted(f"{path}\0{self.files[path].sha256 if path in self.files else ''}" for path in tree.files)
        return blake2b(os.fsencode("\n".join(lines)), digest_size=16).hexdigest()

    def _is_older(self, status: Status) -> bool:
        return max(status.mtime, status.ctime) < self.at - _TICK_NANOSECONDS


def indexed(tree: OutputFolder, digests: Mapping[str, str], at: int) -> OutputIndex:
    """Return the index of `tree`, the listed output folder, after a command that began at the time `at` wrote it.

    `digests` are the SHA-256 of the files that the command wrote or compared, by path; other files are hashed, and
    those that cannot be read are left out. `at` is in nanoseconds since 1970, as from `time.time_ns`. A file that
    anybody changes after `at` does not count as older, so the next `look` hashes it.
    """
    found = dict[str, HashedFile]()
    for path in tree.files:
        with suppress(OSError):
            place = f"{tree.root}/{path}"
            found[path] = HashedFile(_status(place), digests.get(path) or _sha256(place))
    return OutputIndex(at, found)


def _status(place: str) -> Status:
    found = os.lstat(place)
    return Status(found.st_dev, found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns)


def _sha256(place: str) -> str:
    with open(place, "rb") as file:  # noqa: PTH123 - for thousands of files, a Path costs as much
        return sha256(file.read()).hexdigest()
