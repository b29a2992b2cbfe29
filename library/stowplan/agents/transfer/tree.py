"""Access to the files below one directory of a claim, without following symbolic links."""

import errno
import hashlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import empty_folders
from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.left_out import Reason

BLOCK = 1 << 20
"""Maximum bytes of a file that are read at a time."""


@dataclass(frozen=True, slots=True)
class Found:
    """Entry below a `Tree`: a file, a directory (its key ends in `/`), or what is not copied."""

    key: str
    """Path relative to the tree's directory."""
    size: int
    """Size in bytes; 0 for anything but a file."""
    modified_ns: int
    """Modification time in nanoseconds since 1970; 0 for anything but a file."""
    left_out: Reason | None = None
    """Why it is not copied; None if it is."""
    problem: str = ""
    """Why it cannot be copied, as the end of a sentence that begins with the key; empty if it can."""
    real: str = ""
    """Path of the file that the key stands for, which differs below links; empty for anything but a file."""
    mode: int = 0
    """Permissions of a file."""
    is_empty: bool = False
    """True for a directory of a source that holds nothing."""

    @property
    def is_file(self) -> bool:
        """Whether it is a file to copy."""
        return bool(self.real) and not self.left_out

    @property
    def is_folder(self) -> bool:
        """Whether it is a directory to copy."""
        return self.key.endswith("/") and not self.left_out

    def check_unchanged(self, descriptor: int) -> None:
        """Raise AttemptError (10) if the size or time of the open file differs from that which was found."""
        status = os.fstat(descriptor)
        if (status.st_size, status.st_mtime_ns) != (self.size, self.modified_ns):
            raise AttemptError(ExitCode.TRANSIENT, "FileChanged", f"{self.key} was changed while it was copied")


class Tree:
    """Directory `path` of a claim, until `close`. Keys are paths relative to it. Any thread may use it.

    The methods raise OSError, with ENOTDIR if a directory of the key is a symbolic link, and AttemptError (5) if a
    segment of the key is `..`. The constructor raises AttemptError (5) if a segment of `path` is a link or a file.
    `create` creates missing directories of `path`; without it they raise FileNotFoundError.
    """

    def __init__(self, claim: Path, path: str, *, create: bool) -> None:
        self.where = claim / path
        self.is_blocked = False
        """True once `stat` has found a file or link where a key needs a directory, or a directory where it is a file.

        Then what is there must be deleted before the copy, not after it.
        """
        try:
            self.root = ClaimFolder.at(claim, path, create=create)
        except NotADirectoryError:
            message = f"{self.where} leads through a link or a file: paths must be directories of the claim itself"
            raise AttemptError(ExitCode.CONFLICT, "Link", message) from None
        self._nearby = threading.local()

    def close(self) -> None:
        self.root.close()

    def parent(self, key: str, *, create: bool = False) -> tuple[ClaimFolder, str]:
        """Return a pair: the key's directory, which callers must not close, and the last segment of the key.

        `create` creates missing directories.
        """
        directory, _, name = key.removesuffix("/").rpartition("/")
        return self._directory(directory, create=create), name

    def make_directory(self, key: str) -> None:
        """Create the directory of a key that ends in `/`, unless it exists."""
        parent, name = self.parent(key, create=True)
        parent.folder(name, create=True).close()

    def stat(self, key: str) -> os.stat_result | None:
        """Return the attributes of a file, directory or link (not of its target); None if the key does not exist."""
        try:
            parent, name = self.parent(key)
            found = parent.stat(name)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                raise
            found, self.is_blocked = None, self.is_blocked or error.errno == errno.ENOTDIR
        if found is not None and stat.S_ISDIR(found.st_mode) != key.endswith("/"):
            self.is_blocked = True
        return found

    def reader(self, key: str) -> int:
        """Open a file for reading; return its descriptor, to be closed. Raises OSError for all but a regular file."""
        parent, name = self.parent(key)
        return parent.reader(name)

    def sha256(self, key: str, check: Callable[[], None]) -> str:
        """Return the SHA-256 of a file in hexadecimal digits. `check` is called between reads, and may raise."""
        with os.fdopen(self.reader(key), "rb") as file:
            return sha256(file.fileno(), check)

    def place(self, source: str, source_directory: ClaimFolder, key: str) -> None:
        """Move a finished file to the path of `key`, atomically, and create missing directories.

        `source` is its present name in `source_directory`. A file or link that is already at `key` is replaced, and so
        is a directory without files: a killed attempt may leave one. Raises AttemptError (5) for any other directory.
        """
        parent, name = self.parent(key, create=True)
        try:
            source_directory.move(source, parent, name)
        except IsADirectoryError:
            folders = empty_folders(parent, name)
            if not folders:
                message = f"{self.where}/{key} is a folder with files, but the source has a file of this name"
                raise AttemptError(ExitCode.CONFLICT, "IsADirectory", f"{message}: move or remove the folder") from None
            for path in reversed(folders):
                outer, _, inner = path.rpartition("/")
                parent.below(outer).remove_folder(inner)
            source_directory.move(source, parent, name)

    def remove(self, key: str) -> None:
        """Remove a file if it exists, or an empty directory (the key ends in `/`), which must exist."""
        parent, name = self.parent(key)
        if key.endswith("/"):
            parent.remove_folder(name)
        else:
            parent.remove_file(name)

    def _directory(self, path: str, *, create: bool) -> ClaimFolder:
        """Return a directory.

        It stays open until this thread needs another one: the next key often has the same directory, or one in it.
        """
        if not path:
            return self.root
        near: tuple[str, ClaimFolder] = getattr(self._nearby, "known", ("", self.root))
        known, folder = near
        if path != known:
            inner = path.startswith(f"{known}/")
            folder = folder.below(path[len(known) :], create=create) if inner else self.root.below(path, create=create)
            self._nearby.known = path, folder
        return folder


def blocks(descriptor: int, check: Callable[[], None], begin: int = 0, end: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the bytes of an open file from offset `begin` to before `end`, or to its end, in pieces of up to `BLOCK`.

    `check` is called before each piece is yielded, and may raise to end the work.
    """
    while begin < end and (data := os.pread(descriptor, min(BLOCK, end - begin), begin)):
        check()
        yield data
        begin += len(data)


def sha256(descriptor: int, check: Callable[[], None]) -> str:
    """Return the SHA-256 of an open file in hexadecimal digits. `check` is called between reads, and may raise."""
    digest = hashlib.sha256()
    for data in blocks(descriptor, check):
        digest.update(data)
    return digest.hexdigest()
