"""The lock that keeps two runs from writing one output folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stowplan.compiler import tree

NAME = ".stowplan.lock"


@contextmanager
def held(out: Path) -> Iterator[bool]:
    """Hold the lock of `out`, which is made where it does not exist; False where another process holds it.

    The lock is the kernel's (`flock`), so it ends with its process, however that ends; a lock file that a killed run
    left does no harm. Raises `OSError` where the folder or the file cannot be made.
    """
    if not tree.exists(out):
        out.mkdir(parents=True, exist_ok=True)
    path = out / NAME
    descriptor = _acquired(path)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquired(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file that we locked is the one at `path`: its last holder may have removed it in between."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
