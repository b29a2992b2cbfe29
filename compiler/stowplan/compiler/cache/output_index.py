"""Which content each output file has, judged as Git's index judges the work tree.

A file is unchanged if all that `lstat` says of it is as it was when its content was last hashed, and if it was changed
well before that moment: a file that is changed twice within one tick of the clock may look the same. Any other file is
hashed (https://git-scm.com/docs/racy-git).
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b, sha256
from typing import NamedTuple

from stowplan.compiler.output.folder import OutputFolder

_TICK_NANOSECONDS = 2_000_000_000
"""The coarsest clock of a file system: FAT counts in two seconds."""


class Status(NamedTuple):
    """What tells a file from one that was changed or put in its place. Times are in nanoseconds."""

    device: int
    inode: int
    size: int
    mode: int
    mtime: int
    ctime: int


class HashedFile(NamedTuple):
    """A file when it was hashed."""

    status: Status
    sha256: str


class OutputIndex(NamedTuple):
    """The regular files of an output folder, by path. Nothing was hashed before the moment `at` (nanoseconds)."""

    at: int = 0
    files: Mapping[str, HashedFile] = {}

    def look(self, tree: OutputFolder, hashed: Mapping[str, str] | None = None, at: int | None = None) -> "OutputIndex":
        """The files of `tree` as they are now. Files that cannot be read are left out.

        `hashed` are digests of contents that were seen after the moment `at`.
        """
        now, found = time.time_ns() if at is None else at, dict[str, HashedFile]()
        given = hashed or {}
        for path in tree.files:
            with suppress(OSError):
                place = f"{tree.root}/{path}"
                status, known = _status(place), self.files.get(path)
                if path in given:
                    found[path] = HashedFile(status, given[path])
                elif known is not None and known.status == status and self._is_older(status):
                    found[path] = known
                else:
                    found[path] = HashedFile(status, _sha256(place))
        return OutputIndex(now, found)

    @property
    def settled(self) -> bool:
        """Whether no file has to be hashed again as long as it looks the same."""
        return all(self._is_older(known.status) for known in self.files.values())

    def holds(self, files: Iterable[tuple[str, str]]) -> bool:
        """Whether the folder has each of these files, given as path and SHA-256."""
        return all(path in self.files and self.files[path].sha256 == digest for path, digest in files)

    def digest(self, tree: OutputFolder) -> str:
        """One digest over all that lies in the folder."""
        names = (tree.others, tree.leftovers, tree.empty)
        lines = ["\0".join(sorted(each)) for each in names]
        lines += sorted(f"{path}\0{self.files[path].sha256 if path in self.files else ''}" for path in tree.files)
        return blake2b(os.fsencode("\n".join(lines)), digest_size=16).hexdigest()

    def _is_older(self, status: Status) -> bool:
        return max(status.mtime, status.ctime) < self.at - _TICK_NANOSECONDS


def _status(place: str) -> Status:
    found = os.lstat(place)
    return Status(found.st_dev, found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns)


def _sha256(place: str) -> str:
    with open(place, "rb") as file:  # noqa: PTH123 - for thousands of files, a Path costs as much
        return sha256(file.read()).hexdigest()
