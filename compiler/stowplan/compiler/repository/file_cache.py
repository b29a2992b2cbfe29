"""Files as a process that goes on has read them: one that looks the same need not be read and hashed again."""

import os
import time
from collections.abc import Iterable
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

    def unchanged(self, folder: str, paths: Iterable[str]) -> dict[str, SeenFile]:
        """Those of the files that look as they did, and what was read of them. `folder` goes before each path."""
        found = {}
        for path in paths:
            known = self._known.get(path)
            if known is not None and known.look == _look_at(folder + path):
                found[path] = known
        return found

    def keep(self, path: str, found: os.stat_result, content: bytes, digest: str) -> None:
        """Remember a file; `found` is older than its content. One that was changed a moment ago is forgotten."""
        if time.time_ns() - found.st_mtime_ns > _RECENT_NANOSECONDS:
            self._known[path] = SeenFile(_look(found), content, digest)
        else:
            self._known.pop(path, None)


def _look_at(place: str) -> tuple[int, ...] | None:
    try:
        return _look(os.stat(place))  # noqa: PTH116 - for thousands of files, a Path costs as much
    except OSError:
        return None


def _look(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev
