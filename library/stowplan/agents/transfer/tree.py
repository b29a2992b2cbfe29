"""Access to the files below one directory of a claim, without following symbolic links."""

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Found:
    """Entry below a `Tree`: a file, a directory (its key ends in `/`), or anything else (`other`)."""

    key: str
    """Path relative to the tree's directory."""
    size: int
    """Size in bytes; 0 for a directory."""
    modified_ns: int
    """Modification time in nanoseconds since 1970; 0 for a directory."""
    other: bool = False
    """True for a link, device, socket or pipe."""


class Tree:
    """Directory `path` of a claim. Keys are paths relative to it.

    The methods raise OSError, with ELOOP or ENOTDIR if a directory of the key is a symbolic link. The constructor
    raises AttemptError (5) if a segment of `path` is a link or a file. `create` creates missing directories of `path`.
    """

    def __init__(self, claim: Path, path: str, *, create: bool) -> None:
        self.where = claim / path
        root = os.open(claim, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for segment in filter(None, path.split("/")):
                inner = _enter(root, segment, create=create)
                os.close(root)
                root = inner
        except OSError as error:
            os.close(root)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                message = f"{self.where} leads through a link or a file: paths must be directories of the claim itself"
                raise AttemptError(ExitCode.CONFLICT, "Link", message) from None
            raise
        self.root = root
        self._nearby = threading.local()

    def close(self) -> None:
        os.close(self.root)

    def parent(self, key: str, *, create: bool = False) -> tuple[int, str]:
        """Return a pair: a descriptor of the key's directory, and the last segment of the key.

        The descriptor is valid until the next call of a method in this thread; callers must not close it. `create`
        creates missing directories.
        """
        directory, _, name = key.removesuffix("/").rpartition("/")
        return self._directory(directory, create=create), name

    def make_directory(self, key: str) -> None:
        """Create the directory of a key that ends in `/`, unless it exists."""
        parent, name = self.parent(key, create=True)
        os.close(_enter(parent, name, create=True))

    def stat(self, key: str) -> os.stat_result | None:
        """Return the attributes of a file, directory or link (not of its target); None if the key does not exist."""
        try:
            parent, name = self.parent(key)
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def open(self, key: str) -> int:
        """Open a file for reading and return its descriptor. Raises OSError (ELOOP) for a link."""
        parent, name = self.parent(key)
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)

    def place(self, source: str, source_directory: int, key: str) -> None:
        """Move a finished file to the path of `key`, atomically, and create missing directories.

        `source` is its present name in the directory with the descriptor `source_directory`. A file or link that is
        already at `key` is replaced.
        """
        parent, name = self.parent(key, create=True)
        os.rename(source, name, src_dir_fd=source_directory, dst_dir_fd=parent)

    def remove(self, key: str) -> None:
        """Remove a file, or an empty directory (the key ends in `/`)."""
        parent, name = self.parent(key)
        if key.endswith("/"):
            os.rmdir(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)

    def walk(self, protected: Sequence[str] = ()) -> Iterator[Found]:
        """Yield everything below the directory by ascending key, except for `protected` keys and what is in them."""
        yield from self._walk(os.dup(self.root), "", frozenset(protected))

    def _walk(self, directory: int, prefix: str, protected: frozenset[str]) -> Iterator[Found]:
        try:
            with os.scandir(directory) as entries:
                names = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
            # Keys of a directory's content begin with its name and `/`: `a-b` comes before `a/b`.
            for name, is_directory in sorted(names, key=lambda each: each[0] + "/" * each[1]):
                key = prefix + name
                if key in protected:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    if is_directory:
                        yield Found(f"{key}/", 0, 0)
                        yield from self._walk(os.open(name, _DIRECTORY, dir_fd=directory), f"{key}/", protected)
                    else:
                        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                        regular = stat.S_ISREG(status.st_mode)
                        yield Found(key, status.st_size, status.st_mtime_ns, other=not regular)
        finally:
            os.close(directory)

    def _directory(self, path: str, *, create: bool) -> int:
        """Return a descriptor of a directory.

        The directory stays open until this thread needs another one: the next key often has the same directory.
        """
        if not path:
            return self.root
        near = self._nearby
        if getattr(near, "path", None) == path:
            return int(near.handle.number)
        handle = _Handle(os.dup(self.root))
        for segment in path.split("/"):
            inner = _enter(handle.number, segment, create=create)
            handle = _Handle(inner)
        near.path, near.handle = path, handle
        return handle.number


class _Handle:
    """Closes a descriptor with its last reference, also after the end of its thread."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


def _enter(directory: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)
    return os.open(name, _DIRECTORY, dir_fd=directory)
