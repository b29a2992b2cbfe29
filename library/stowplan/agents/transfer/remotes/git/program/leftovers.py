"""What a killed attempt leaves: Git programs that still run, and their files.

The programs end by themselves within moments, since their output is no longer read. Each of them holds a file lock
through an inherited descriptor, so the next attempt can detect that they still run.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.schema.agents.exit_codes import ExitCode

PATIENCE_SECONDS = 60.0
"""Maximum seconds to wait for programs of an earlier attempt."""

_LEFT = re.compile(
    r"[^/]*\.lock|refs/.*\.lock|objects/[^/]*\.lock"
    r"|objects/(pack/)?(tmp_pack_|tmp_idx_|tmp_rev_|tmp_obj_|\.tmp-)[^/]*|objects/[^/]*/tmp_obj_[^/]*"
    # Git LFS resumes only `.part` files, and never removes the others.
    r"|lfs/incomplete/(?!.*\.part$)[^/]*",
    re.DOTALL,
)
"""Paths of files that killed Git programs leave in Git's own directory."""


@contextmanager
def awaited(state: ClaimFolder | None, stop: Stop) -> Iterator[tuple[int, ...]]:
    """Wait until no program of an earlier attempt runs, and yield the descriptors that new programs must inherit.

    `state` is the state directory of the transfer. If it is None, there is no wait, and the tuple is empty. Raises
    AttemptError if programs still run after `PATIENCE_SECONDS`.
    """
    if state is None:
        yield ()
        return
    descriptor = state.shared("children")
    try:
        _lock(descriptor, stop)
        yield (descriptor,)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, stop: Stop) -> None:
    """Wait for the lock of an open file, and take it. On a file system without locks this does nothing.

    Raises AttemptError (10) if another process still holds the lock after `PATIENCE_SECONDS`.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                message = "Programs of an earlier attempt are still at work in the destination"
                raise AttemptError(ExitCode.TRANSIENT, "Leftovers", message) from None
            stop.sleep(0.05)
        except OSError:
            # The file system has no locks. The lock of the destination has already waited long enough.
            return
        else:
            return


def clear(inside: ClaimFolder) -> None:
    """Delete lock files and temporary files in Git's own directory. Call it only while no Git program runs there."""
    for path, entry, folder in walk(inside, by_name, lambda path, _: path in ("lfs/objects", "modules")):
        if not entry.is_folder and _LEFT.fullmatch(path):
            folder.remove_file(entry.name)
