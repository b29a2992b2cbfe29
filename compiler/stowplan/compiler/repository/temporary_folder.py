"""A temporary folder that a later process removes if its own process was killed."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from stat import S_ISDIR

from stowplan.compiler.output import lock

_YOUNG_SECONDS = 600
"""Minimum age of a folder in seconds before it is taken for abandoned; a younger one may not be locked yet."""


class TemporaryFolder:
    """A folder (`path`), made at once in the system's temporary directory, for this process, until `remove` is called.

    A killed process removes nothing. Therefore each process holds a lock in its folder. The system releases the lock
    when the process and those forked from it have ended. A new process first removes the unlocked folders of the same
    user and prefix.
    """

    def __init__(self, prefix: str) -> None:
        for folder in _old(Path(tempfile.gettempdir()), prefix):
            # An error means that another process removes or changes the folder, which is not needed here.
            with suppress(OSError), lock.held(folder) as alone:
                if alone:
                    shutil.rmtree(folder)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._held = ExitStack()
        self._held.enter_context(lock.held(self.path))

    def remove(self) -> None:
        """Remove the folder. Call this once."""
        self._held.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _old(top: Path, prefix: str) -> Iterator[Path]:
    """Yield the folders in `top` with this prefix that belong to this user and are old enough; links are left out.

    Yields nothing on Windows, whose temporary directory belongs to one user.
    """
    if sys.platform != "win32":
        latest = time.time() - _YOUNG_SECONDS
        for path in top.glob(f"{prefix}*"):
            with suppress(OSError):
                found = path.lstat()
                if S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mtime < latest:
                    yield path
