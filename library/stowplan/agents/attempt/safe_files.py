"""Small files that are written atomically and survive a crash of the node.

Everybody with write access to a claim can put anything into its state directory. So each component of a path is opened
without following links, and only regular files of a bounded size are read.
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
"""Maximum size in bytes of a file that is read. Markers have less than one thousand bytes."""

MOST_NAMES = 100_000
MOST_BYTES = 16 << 20
"""Maximum number of bytes that are read from one folder."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder(root: Path, path: str, *, create: bool = False) -> Iterator[int]:
    """Open the folder at `path` below `root` and yield its descriptor.

    Raises OSError, for a link on the way ENOTDIR.
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
    """Return the content of a file; None if it is missing, no regular file, larger than `largest` bytes or behind a
    link.

    Raises OSError if the file system cannot tell, for example PermissionError.
    """
    parent, name = _split(path)
    try:
        with folder(root, parent) as descriptor:
            return content(descriptor, name, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None


def content(parent: int, name: str, largest: int = LARGEST) -> bytes | None:
    """Read a file as `read` does, by its name in an open folder."""
    # Opening some special files has side effects, so the type is checked first. The check after opening is the safe
    # one.
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
    """Parse a JSON object; None for anything else, such as nesting that is too deep for the parser."""
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def files(root: Path, path: str, largest: int = LARGEST) -> dict[str, bytes]:
    """Return the contents of a folder's files by name. Empty if the folder is missing or behind a link.

    A content is empty if `read` refuses the file, and for all files beyond `MOST_BYTES`. Raises OSError for more than
    `MOST_NAMES` entries.
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
    """Write a file atomically and durably; create its folder; replace a link at its path. Raises OSError."""
    parent, name = _split(path)
    with folder(root, parent, create=True) as descriptor:
        _write(descriptor, name, text)


def remove(root: Path, path: str) -> None:
    """Remove a file or link if it exists. Raises OSError, also for a link on the way."""
    parent, name = _split(path)
    with suppress(FileNotFoundError), folder(root, parent) as descriptor:
        os.unlink(name, dir_fd=descriptor)


def replace(path: Path, text: str) -> None:
    """Write a file as `write` does, in an existing folder that only this process uses."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write(descriptor, path.name, text)
    finally:
        os.close(descriptor)


def _write(parent: int, name: str, text: str) -> None:
    temporary = f"{name}.tmp"
    # Whatever lies at this path, such as a link, must not be written through.
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
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(descriptor: int) -> None:
    """Make all writes to the descriptor's file system durable. One call is cheaper than one per file."""
    # Python has no `os.syncfs`.
    if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def boot() -> str:
    """Return an identifier of the present boot: data written since then can be read even if it is not durable."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
