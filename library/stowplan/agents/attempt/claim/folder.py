"""Open folders of a claim: all files that agents keep there, and all data that they copy, are reached through these.

Everybody with write access to a claim can put a link, a pipe or a folder in the place of anything, at any moment. So a
path that was checked may lead elsewhere once it is used. Here each call takes one name in an open folder. It follows no
link and opens only regular files, whatever has the name by then.
"""

import ctypes
import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self, TextIO

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

LONGEST_LINE = 64 * 1024
"""Maximum size in bytes of a line that is read. Lines of journals hold a path, which has 4096 bytes at most."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a pipe that nobody writes to is waited for.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_OF_MOUNT = range(0x7FFFFFFF00000000, 0x7FFFFFFF20000000)
"""Inode numbers of what JuiceFS shows in the root folder of a mount (`pkg/vfs/internal.go`, `pkg/meta/utils.go`)."""


class FolderEntry(NamedTuple):
    """A name in a folder. A link is neither a folder nor a file."""

    name: str
    inode: int
    is_folder: bool
    is_file: bool


class ClaimFolder:
    """Open folder of a claim. It stays the same folder, even if something else gets its path.

    Names are single segments of a path: the methods raise AttemptError (5) for any other string. They raise OSError.
    Several threads may use one object. It is closed by `close`, at the end of a `with` block, or with its last
    reference. The caller closes each descriptor that a method returns. The constructor takes over its `descriptor`.
    """

    def __init__(self, descriptor: int, where: str) -> None:
        self.descriptor = descriptor
        self.where = where
        """Path by which the folder was opened, for messages."""

    @classmethod
    def at(cls, root: Path, path: str = "", *, create: bool = False) -> Self:
        """Open the folder `path` below `root`, a trusted directory; `create` makes missing folders.

        Raises NotADirectoryError if a link or a file is on the way.
        """
        found = cls(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), str(root))
        return found.below(path, create=create)

    def below(self, path: str, *, create: bool = False) -> Self:
        """Open the folder at a path below this one, and return it; for an empty path this very object.

        `create` makes missing folders. Raises NotADirectoryError if a link or a file is on the way.
        """
        found = self
        for name in path.split("/"):
            found = found.folder(name, create=create) if name not in ("", ".") else found
        return found

    def folder(self, name: str, *, create: bool = False) -> Self:
        """Open a folder in this one; `create` makes a missing one. Raises NotADirectoryError for a link or a file."""
        try:
            return self._folder(name)
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.descriptor)
        return self._folder(name)

    def _folder(self, name: str) -> Self:
        where = f"{self.where}/{_one(name)}"
        try:
            return type(self)(os.open(name, _FOLDER, dir_fd=self.descriptor), where)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
        raise NotADirectoryError(errno.ENOTDIR, f"{where} is a link or a file, and must be a folder: remove it", where)

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def entries(self, most: int | None = None) -> list[FolderEntry]:
        """Return what is in the folder, in no order; with `most` no more than so many entries.

        Files by which JuiceFS is controlled are left out: they are no data.
        """
        with os.scandir(self.descriptor) as scan:
            return [_entry(each) for each in itertools.islice(scan, most) if not _is_of_mount(each)]

    def names(self) -> list[str]:
        """Return the sorted names of everything in the folder but folders."""
        return sorted(each.name for each in self.entries() if not each.is_folder)

    def stat(self, name: str) -> os.stat_result | None:
        """Return the attributes of what has this name, also of a link itself; None if nothing has it."""
        try:
            return os.stat(_one(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def link(self, name: str) -> str:
        """Return what a symbolic link holds. Raises OSError if the name is not that of a link."""
        return os.readlink(_one(name), dir_fd=self.descriptor)

    def reader(self, name: str) -> int:
        """Open a file to read it, and return its descriptor. Raises OSError for anything but a regular file."""
        descriptor = os.open(_one(name), _READ, dir_fd=self.descriptor)
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return descriptor
        os.close(descriptor)
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO
        raise OSError(number, f"{self.where}/{name} is no regular file", name)

    def read(self, name: str, largest: int) -> bytes | None:
        """Return the content of a file; None if there is no regular file of at most `largest` bytes."""
        descriptor = self._regular(name, _READ)
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as file:
            found = file.read(largest + 1)
        return found if len(found) <= largest else None

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file without their ends; none if there is no regular file.

        It ends before a line that has no end, or more than `LONGEST_LINE` bytes: a killed program left it, or others.
        """
        descriptor = self._regular(name, _READ)
        if descriptor is None:
            return
        with os.fdopen(descriptor, "rb") as file:
            while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                yield line[:-1]

    def existing(self, name: str) -> int | None:
        """Open an existing file to read and write it, and return its descriptor.

        None if there is no regular file of this name, or if it has further names.
        """
        descriptor = self._regular(name, _WRITE)
        if descriptor is None or self._is_only_name(name, descriptor):
            return descriptor
        os.close(descriptor)
        return None

    def _is_only_name(self, name: str, descriptor: int) -> bool:
        """Return whether an open file has this name and no other one.

        A number of names alone proves nothing: the name here may be the one that was removed since the opening.
        """
        found = self.stat(name)
        return found is not None and found.st_nlink == 1 and os.path.samestat(found, os.fstat(descriptor))

    def _regular(self, name: str, flags: int) -> int | None:
        # Opening some special files has side effects, so the type is checked first. The file may be replaced after
        # that, so the type is checked again after opening.
        found = self.stat(name)
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        try:
            descriptor = os.open(name, flags, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENXIO):
                return None
            raise
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def shared(self, name: str) -> int:
        """Open a file that several programs have open at a time, such as that of a lock, and return its descriptor.

        A missing file is made. Raises OSError if the name is that of anything but a regular file, or if the file has
        further names.
        """
        descriptor = os.open(_one(name), _WRITE | os.O_CREAT, 0o644, dir_fd=self.descriptor)
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and self._is_only_name(name, descriptor):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.ENXIO, f"{self.where}/{name} is no regular file with one name: remove it", name)

    def new(self, name: str, mode: int = 0o666) -> int:
        """Make an empty file in the place of a file or link, and return its descriptor, to read and to write it."""
        try:
            return os.open(_one(name), _NEW, mode, dir_fd=self.descriptor)
        except FileExistsError:
            os.unlink(name, dir_fd=self.descriptor)
        return os.open(name, _NEW, mode, dir_fd=self.descriptor)

    @contextmanager
    def replacing(self, name: str) -> Iterator[TextIO]:
        """Yield a new text file, which gets this name atomically at the end of the block, but not after an error in it.

        Call `durable` in the block, and `sync` after it, if the file must survive a crash of the machine.
        """
        temporary = f"{name}.tmp"
        with os.fdopen(self.new(temporary), "w", encoding="utf-8") as file:
            try:
                yield file
                file.flush()
                self.move(temporary, self, name)
            except BaseException:
                self.remove_file(temporary)
                raise

    def begin(self, name: str, text: str) -> int:
        """Write a file atomically and durably, and return its descriptor, to `append` more."""
        temporary = f"{name}.tmp"
        descriptor = self.new(temporary)
        try:
            append(descriptor, text)
            os.fsync(descriptor)
            self.move(temporary, self, name)
            self.sync()
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def write(self, name: str, text: str) -> None:
        """Write a file atomically and durably. A link of this name is replaced itself."""
        os.close(self.begin(name, text))

    def move(self, name: str, target: "ClaimFolder", new_name: str) -> None:
        """Give an entry another name, in this folder or in another one. A file or link that has it is replaced."""
        os.rename(_one(name), _one(new_name), src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def remove_file(self, name: str) -> None:
        """Remove a file or a link, if there is one. Raises IsADirectoryError for a folder."""
        with suppress(FileNotFoundError):
            os.unlink(_one(name), dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder. Raises OSError if it is missing, holds anything, or is none."""
        os.rmdir(_one(name), dir_fd=self.descriptor)

    def sync(self) -> None:
        """Write the list of names to the disk, so that new and moved files survive a crash."""
        os.fsync(self.descriptor)

    def sync_all(self) -> None:
        """Write all changes of the file system to the disk. One call is cheaper than one for each file."""
        # Python has no `os.syncfs`.
        if ctypes.CDLL(None, use_errno=True).syncfs(self.descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def append(descriptor: int, text: str) -> None:
    """Write to an open file, where the last write ended."""
    data = memoryview(text.encode())
    while data:
        data = data[os.write(descriptor, data) :]


def durable(file: TextIO) -> None:
    """Write all that a program has written to an open file to the disk, so that it survives a crash."""
    file.flush()
    os.fsync(file.fileno())


def _is_of_mount(found: "os.DirEntry[str]") -> bool:
    """Return whether JuiceFS shows this in the root folder of each mount, such as `.accesslog` and `.trash`."""
    return found.name.startswith(".") and found.inode() in _OF_MOUNT


def _entry(found: "os.DirEntry[str]") -> FolderEntry:
    is_folder = found.is_dir(follow_symlinks=False)
    return FolderEntry(found.name, found.inode(), is_folder, not is_folder and found.is_file(follow_symlinks=False))


def _one(name: str) -> str:
    """Return a name as it is. Raises AttemptError (5) if it would lead to another folder."""
    if "/" in name or name in ("", ".", ".."):
        message = f"{name[:200]!r} is no name of a file or folder: others have changed the files of this program"
        raise AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)
    return name
