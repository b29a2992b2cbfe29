"""Small files that are written atomically and survive a crash of the machine.

Everybody with write access to a volume can put anything into its state directory. So each component of a path is opened
without following links, and only regular files of a bounded size are read. In all functions `root` is a trusted
directory, and `path` is relative to it.
"""

import ctypes
import errno
import itertools
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

LARGEST = 64 * 1024
"""Maximum size in bytes of a file that is read. Marker files have less than one thousand bytes."""

MOST_NAMES = 100_000
"""Maximum number of files in a folder that is read."""

MOST_BYTES = 16 << 20
"""Maximum number of bytes that are read from one folder."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder(root: Path, path: str, *, create: bool = False) -> Iterator[int]:
    """Open the folder at `path` below `root` and yield its descriptor, which is closed at the end of the block.

    With `create`, missing folders are created. Raises OSError; its number is ENOTDIR if a part of `path` is a link.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in PurePosixPath(path).parts:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            inner = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def read(root: Path, path: str, largest: int = LARGEST) -> bytes | None:
    """Return the content of a file, or None.

    None if the file is missing, is no regular file or is larger than `largest` bytes, or if a folder in `path` is a
    link. Raises OSError if the file cannot be read, for example PermissionError.
    """
    parent, name = _split(path)
    try:
        with folder(root, parent) as descriptor:
            return content(descriptor, name, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None


def content(parent: int, name: str, largest: int = LARGEST) -> bytes | None:
    """Return the content of the file `name` in an open folder; None in the same cases as `read`.

    `parent` is the descriptor of the folder.
    """
    # Opening some special files has side effects, so the type is checked first. The file may be replaced after that, so
    # the type is checked again after opening.
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            return None
    try:
        descriptor = os.open(name, _READ, dir_fd=parent)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        found = file.read(largest + 1)
    return found if len(found) <= largest else None


def json_object(found: bytes | None) -> dict[str, Any] | None:
    """Parse a JSON object; None if `found` is None or anything but a JSON object.

    Also None if the object is nested too deeply for the parser.
    """
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def files(root: Path, path: str, largest: int = LARGEST) -> dict[str, bytes]:
    """Return the contents of a folder's files by name, without subfolders.

    Empty if the folder is missing, or if a part of `path` is a link. The content of a file is empty if `read` would
    return None for it, and as soon as the files before it have `MOST_BYTES` together. Raises OSError for more than
    `MOST_NAMES` files.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    with suppress(FileNotFoundError, NotADirectoryError), folder(root, path) as descriptor:
        for name in _names(descriptor, path):
            known = content(descriptor, name, largest) if left > 0 else None
            left -= len(known or b"")
            if known is not None or _is_there(descriptor, name):
                found[name] = known or b""
    return found


def names(root: Path, path: str) -> list[str]:
    """Return the sorted names of a folder's files, without subfolders. It fails, or is empty, as `files`."""
    with suppress(FileNotFoundError, NotADirectoryError), folder(root, path) as descriptor:
        return _names(descriptor, path)
    return []


def _names(descriptor: int, path: str) -> list[str]:
    with os.scandir(descriptor) as entries:
        some = itertools.islice(entries, MOST_NAMES + 1)
        found = [entry.name for entry in some if not entry.is_dir(follow_symlinks=False)]
    if len(found) > MOST_NAMES:
        raise OSError(errno.EFBIG, f"The folder {path} has more than {MOST_NAMES} files")
    return sorted(found)


def _is_there(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def write(root: Path, path: str, text: str) -> None:
    """Write a file atomically and durably. Raises OSError.

    Missing folders are created. If `path` is a link, the link itself is replaced by the file.
    """
    parent, name = _split(path)
    with folder(root, parent, create=True) as descriptor:
        _write(descriptor, name, text)


def remove(root: Path, path: str) -> None:
    """Remove a file or link if it exists. Raises OSError, also if a folder in `path` is a link."""
    parent, name = _split(path)
    with suppress(FileNotFoundError), folder(root, parent) as descriptor:
        os.unlink(name, dir_fd=descriptor)


def replace(path: Path, text: str) -> None:
    """Write a file atomically and durably, in an existing folder that only this process uses. Raises OSError."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write(descriptor, path.name, text)
    finally:
        os.close(descriptor)


def _write(parent: int, name: str, text: str) -> None:
    temporary = f"{name}.tmp"
    # A link at this path must be removed, or the write would change the file to which the link points.
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=parent)
    with os.fdopen(os.open(temporary, _CREATE, 0o666, dir_fd=parent), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    os.fsync(parent)


def _split(path: str) -> tuple[str, str]:
    parent, _, name = path.rpartition("/")
    return parent, name


def sync_directory(path: Path) -> None:
    """Write the list of names in a directory to the disk, so that new and renamed files survive a crash."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(descriptor: int) -> None:
    """Write all changes of a file system to the disk. One call is cheaper than one for each file. Raises OSError.

    `descriptor` is an open file or directory of that file system.
    """
    # Python has no `os.syncfs`.
    if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def boot() -> str:
    """Return an identifier that changes with each boot of the machine; empty if it is unknown.

    Data that was written since the boot can be read even if it is not durable.
    """
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
