"""The lock that keeps two runs from writing one output folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stowplan.compiler.output import folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = ".stowplan.lock"
_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Windows has no such flag; who may make links there may write to all files anyway."""


@contextmanager
def held(out: Path) -> Iterator[bool]:
    """Hold the lock of `out`, which is made where it does not exist; False where another process holds it.

    The lock is the kernel's (`flock`, on Windows `locking`), so it ends with its process, however that ends; a lock
    file that a killed run left does no harm. Raises `OSError` where the folder or the file cannot be made.
    """
    if not folder.exists(out):
        out.mkdir(parents=True, exist_ok=True)
    path = out / NAME
    descriptor = _acquired(path)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        _release(path, descriptor)


def _acquired(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NOT_THROUGH_LINKS, 0o644)
        try:
            _lock(descriptor)
            if _is_still(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Raises BlockingIOError where another process has the lock."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError from None
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _release(path: Path, descriptor: int) -> None:
    """The file goes before the lock does. Windows keeps files that are open, so there it is the other way round."""
    if sys.platform == "win32":
        os.close(descriptor)
        with suppress(PermissionError):
            path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file that we locked is the one at `path`: its last holder may have removed it in between."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
