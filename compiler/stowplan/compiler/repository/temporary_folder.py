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
"""A folder that is younger may not be locked yet."""


class TemporaryFolder:
    """One in the system's temporary directory, as long as this process lives and `remove` is not called.

    A process that is killed removes nothing. So each holds a lock in its folder, which ends with it and the processes
    that it forked, and first removes folders of the same user and prefix whose lock nobody holds.
    """

    def __init__(self, prefix: str) -> None:
        for folder in _old(Path(tempfile.gettempdir()), prefix):
            _remove_unheld(folder)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._held = ExitStack()
        self._held.enter_context(lock.held(self.path))

    def remove(self) -> None:
        """Remove the folder. To be called once."""
        self._held.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _old(top: Path, prefix: str) -> Iterator[Path]:
    """Folders of this user, not links. None on Windows, whose temporary directory belongs to one user."""
    if sys.platform != "win32":
        latest = time.time() - _YOUNG_SECONDS
        for path in top.glob(f"{prefix}*"):
            with suppress(OSError):
                found = path.lstat()
                if S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mtime < latest:
                    yield path


def _remove_unheld(folder: Path) -> None:
    # An error means that another process removes it too, or that somebody changed it; the folder is not needed here.
    with suppress(OSError), lock.held(folder) as alone:
        if alone:
            shutil.rmtree(folder)
