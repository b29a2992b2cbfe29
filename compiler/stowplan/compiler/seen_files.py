"""Files as a process that goes on has read them: one that looks the same need not be read and hashed again."""

import os
import time
from typing import NamedTuple

_RECENT_NANOSECONDS = 1_000_000_000
"""A file that was changed so shortly before it was read may change again without looking any different."""


class SeenFile(NamedTuple):
    """The content of a file and the digest of that, and what `stat` said before it was read."""

    look: tuple[int, ...]
    content: bytes
    digest: str


class SeenFiles:
    """The files of one repository, by their paths."""

    def __init__(self) -> None:
        self._known: dict[str, SeenFile] = {}

    def find(self, path: str, found: os.stat_result) -> SeenFile | None:
        """What was read of a file, if it looks as it did then."""
        known = self._known.get(path)
        return known if known is not None and known.look == _look(found) else None

    def keep(self, path: str, found: os.stat_result, content: bytes, digest: str) -> None:
        """Remember a file; `found` is older than its content. One that was changed a moment ago is forgotten."""
        if time.time_ns() - found.st_mtime_ns > _RECENT_NANOSECONDS:
            self._known[path] = SeenFile(_look(found), content, digest)
        else:
            self._known.pop(path, None)


def _look(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev
