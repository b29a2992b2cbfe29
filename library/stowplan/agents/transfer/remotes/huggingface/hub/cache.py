"""What hf-xet remembers of uploads, so that a later attempt sends only the chunks that the Hub lacks.

The library opens its files by their paths and follows links, so they are in a directory that others cannot write to.
They are copied from the claim before an upload and back after it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, remove, walk
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log

LARGEST = 256 << 20
"""Maximum size in bytes of what is copied, about 1 MB for each GB of uploads. The pod has 1 GiB of scratch space."""

MOST_FILES = 10_000
"""Maximum number of files that are copied."""

_FOLDER = "xet"
"""Folder in the state directory, and in the directory of the library."""

_CHUNK = 1 << 20


@contextmanager
def remembered(state: ClaimFolder, library: Path, stop: Stop, log: Log) -> Iterator[None]:
    """Copy the cache to the directory of the library before the block, and back after it, unless there was a signal."""
    with ClaimFolder.at(library) as scratch:
        _copy(state, scratch, log)
        try:
            yield
        finally:
            if stop.why != "signal":
                _copy(scratch, state, log)


def _copy(source: ClaimFolder, target: ClaimFolder, log: Log) -> None:
    """Replace the cache in one folder by that in another one, without links. It may be lost: that costs only time."""
    try:
        remove(target, _FOLDER)
        with source.folder(_FOLDER, create=True) as old, target.folder(_FOLDER, create=True) as new:
            left, files = LARGEST, 0
            for path, entry, folder in walk(old, by_name):
                if not entry.is_file:
                    continue
                parent, _, name = path.rpartition("/")
                with os.fdopen(folder.reader(name), "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    left, files = left - size, files + 1
                    if left < 0 or files > MOST_FILES:
                        return
                    with os.fdopen(new.below(parent, create=True).new(name), "wb") as copied:
                        while size > 0 and (data := file.read(min(_CHUNK, size))):
                            copied.write(data)
                            size -= len(data)
    except (OSError, AttemptError) as error:
        log.warning("Chunks that were sent before may be sent again: their record cannot be copied", error=str(error))
