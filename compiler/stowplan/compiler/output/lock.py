"""The lock that prevents two commands from writing one output folder at the same time."""

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

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Flag against following links. Windows has none; there a user who may create links may write all files anyway."""


@contextmanager
def held(out: Path) -> Iterator[bool]:
    """Hold the lock of the folder `out`, which is created if needed. Yield False if another process holds the lock.

    The kernel releases the lock (`flock`, on Windows `locking`) when its process ends, for any reason; so the lock file
    of a killed process does no harm. Raises `OSError` if the folder or the lock file cannot be created.
    """
    if not folder.exists(out):
        out.mkdir(parents=True, exist_ok=True)
    path = out / folder.LOCK
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
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock without waiting. Raises `BlockingIOError` if another process has the lock."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError from None
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _release(path: Path, descriptor: int) -> None:
    """Remove the lock file, then release the lock; on Windows, which cannot remove an open file, in reverse order."""
    if sys.platform == "win32":
        os.close(descriptor)
        with suppress(PermissionError):
            path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the locked file is still the one at `path`: its last holder may have removed it meanwhile."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
