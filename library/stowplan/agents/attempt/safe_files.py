"""Small files that are there as a whole or not at all, and what outlives a crash of the node.

Everybody who can write to a claim can put anything into its state directory. So paths are opened name by name without
following a link, and what is read is a regular file of a bounded size.
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
"""Bytes of a file that is read. Markers have less than one thousand."""

MOST_NAMES = 100_000
MOST_BYTES = 16 << 20
"""What is read of one folder."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder(root: Path, path: str, *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder at `path` below `root`. OSError, for a link on the way too (ENOTDIR)."""
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
    """The content of a file; None if there is no regular file of at most `largest` bytes, or a link on the way.

    OSError where the file system cannot tell, such as PermissionError.
    """
    parent, name = _split(path)
    try:
        with folder(root, parent) as descriptor:
            return content(descriptor, name, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None


def content(parent: int, name: str, largest: int = LARGEST) -> bytes | None:
    """As `read`, for a name in a folder that is open."""
    # Opening some special files has effects. This look costs little, and the one below is the one that counts.
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
    """The JSON object in a file; None if there is something else, such as nesting that is too deep to be read."""
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def files(root: Path, path: str, largest: int = LARGEST) -> dict[str, bytes]:
    """What is in a folder, by name, without folders. Empty if there is no folder, or a link on the way.

    The content is empty for whatever `read` would not read, and for files beyond `MOST_BYTES`. OSError for more than
    `MOST_NAMES`.
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
    """Writes a file in one step that survives a crash, and makes its folder. A link there is replaced. OSError."""
    parent, name = _split(path)
    with folder(root, parent, create=True) as descriptor:
        _write(descriptor, name, text)


def remove(root: Path, path: str) -> None:
    """Removes a file or link, if it is there. OSError, also for a link on the way."""
    parent, name = _split(path)
    with suppress(FileNotFoundError), folder(root, parent) as descriptor:
        os.unlink(name, dir_fd=descriptor)


def replace(path: Path, text: str) -> None:
    """As `write`, in a folder that is there and is no one else's."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write(descriptor, path.name, text)
    finally:
        os.close(descriptor)


def _write(parent: int, name: str, text: str) -> None:
    temporary = f"{name}.tmp"
    # Whatever lies there, such as a link, must not be written through.
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
    """Makes the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(descriptor: int) -> None:
    """Makes everything durable that was written to the file system of a descriptor: cheaper than file by file."""
    # Python has no `os.syncfs`.
    if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def boot() -> str:
    """Names the time since this machine started: what was written since then is there, durable or not."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
