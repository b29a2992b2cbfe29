"""Git's own directory in the scratch space of an attempt, for one repository of the claim.

Git takes orders from its own directory: settings, attributes, hooks and alternates start programs and name other files.
In the claim others can change them at any moment, also after a check. So Git works with a directory of its own. What is
data is copied there from the claim, and back. Of the claim's `.git` Git itself reads only the objects.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.tree import blocks
from stowplan.schema.agents.exit_codes import ExitCode

CONFIG = "config"
"""Name of the configuration file. That of the claim is copied to a place where Git does not look for it."""

_FILES = ("HEAD", CONFIG, "index", "packed-refs", "shallow")
_SHARED = "sharedindex."
"""Beginning of the names of files that an index may be split into."""

_LARGEST = 2 << 30
"""Maximum size in bytes of all copies: an index of ten million files is smaller."""

_FILE_BYTES = 512
"""Least number of bytes that a file counts with, so that the number of files is limited too."""


class PrivateDirectory:
    """Git's own directory `path`, in a new folder below `scratch`, for `claim`, which is the one in the claim.

    It holds the data of `claim` as it was when this object was made. `publish` brings changes to the claim. Raises
    AttemptError (5) if there is too much data, and OSError, for example if `claim` has no folder `objects`.
    """

    def __init__(self, scratch: Path, claim: ClaimFolder) -> None:
        folder = Path(mkdtemp(prefix="repository-", dir=scratch))
        self.path, self.config = folder / "git", folder / CONFIG
        self._claim, self._objects = claim, claim.folder("objects")
        self._pack = self._objects.folder("pack") if self._objects.stat("pack") else None
        self._link()
        left = _LARGEST
        for where, name, path in self._of_claim():
            left -= _copied(where, name, self._private(path), left)
        self._known = self._versions()

    @property
    def held(self) -> tuple[int, ...]:
        """Descriptors of folders of the claim that Git must inherit; the first is that of Git's own directory there."""
        return tuple(each.descriptor for each in (self._claim, self._objects, self._pack) if each)

    def _link(self) -> None:
        """Make the folder of objects: with links to those of the claim, but not to files that name further objects.

        The links lead through the descriptors that Git inherits, so nobody can make them lead elsewhere.
        """
        own = self.path / "objects"
        (own / "info").mkdir(parents=True)
        # Loose objects are in folders that are named by their first byte.
        for name in (f"{byte:02x}" for byte in range(256)):
            (own / name).symlink_to(f"/proc/self/fd/{self._objects.descriptor}/{name}")
        if self._pack:
            (own / "pack").symlink_to(f"/proc/self/fd/{self._pack.descriptor}")

    def publish(self) -> None:
        """Copy to the claim what changed since this object was made or published, and remove there what is gone."""
        present = self._versions()
        # A ref in a file of its own comes before the one in `packed-refs`, which must be there when the file goes. HEAD
        # is last: it says that a clone is whole.
        for path in sorted(present, key=lambda path: (path == "HEAD", path != "packed-refs", path)):
            if present[path] != self._known.get(path):
                folder, name = self._place(path)
                _write(self._private(path), folder, name)
        for path in sorted(self._known.keys() - present.keys()):
            folder, name = self._place(path)
            folder.remove_file(name)
        self._known = present

    def _of_claim(self) -> Iterator[tuple[ClaimFolder, str, str]]:
        """Yield (folder, name, path) of each file of the claim that is data."""
        for each in self._claim.entries():
            if each.is_file and (each.name in _FILES or each.name.startswith(_SHARED)):
                yield self._claim, each.name, each.name
        if self._claim.stat("refs"):
            for met in walk(self._claim.folder("refs"), by_name):
                if met.entry.is_file:
                    yield met.folder, met.entry.name, f"refs/{met.path}"

    def _place(self, path: str) -> tuple[ClaimFolder, str]:
        """Return the folder of the claim that has a file, and the file's name there."""
        parent, _, name = path.rpartition("/")
        return self._claim.below(parent, create=True), name

    def _private(self, path: str) -> Path:
        return self.config if path == CONFIG else self.path / path

    def _versions(self) -> dict[str, tuple[int, int, int]]:
        """Return inode, time and size, which tell whether a file changed, by the path that it has in the claim."""
        refs = (str(each.relative_to(self.path)) for each in (self.path / "refs").rglob("*"))
        shared = (each.name for each in self.path.glob(f"{_SHARED}*"))
        found = {path: self._private(path) for path in (*_FILES, *shared, *refs)}
        return {
            path: (status.st_ino, status.st_mtime_ns, status.st_size)
            for path, file in found.items()
            if file.is_file()
            for status in [file.stat()]
        }


def _copied(folder: ClaimFolder, name: str, target: Path, limit: int) -> int:
    """Copy a file of the claim, and return the bytes that it counts with.

    Its times are copied too, since Git compares that of the index with those of the files in it. Raises AttemptError
    (5) if the file is larger than `limit`, and OSError for anything but a regular file.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(folder.reader(name), "rb") as file:
        status = os.fstat(file.fileno())
        counted = max(status.st_size, _FILE_BYTES)
        if counted > limit:
            message = f"{folder.where} holds an index and refs of more than {_LARGEST >> 20} MiB: remove the clone"
            raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
        with target.open("xb") as copy:
            # Others may write to it meanwhile.
            copy.writelines(blocks(file.fileno(), lambda: None, 0, status.st_size))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return counted


def _write(source: Path, folder: ClaimFolder, name: str) -> None:
    """Copy a file to the claim, atomically and durably."""
    # As Git names them. No ref has such a name, and what a killed attempt leaves is cleared away.
    temporary = f"{name}.lock"
    with source.open("rb") as file, os.fdopen(folder.new(temporary), "wb") as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        os.fsync(copy.fileno())
    folder.move(temporary, folder, name)
    folder.sync()
