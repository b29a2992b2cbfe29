"""Small files that are there as a whole or not at all, and what outlives a crash of the node."""

import ctypes
import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def replace(path: Path, text: str) -> None:
    """Writes a file in one step that survives a crash."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_directory(path.parent)


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
