"""How far Git LFS is: it writes lines to a file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from stowplan.agents.attempt.progress import Progress

MEMORY = Path("/dev/shm")  # noqa: S108 - with a name of its own
"""A file system in memory: Git LFS has each line made durable, which elsewhere takes as long as to fetch."""

LONGEST = 1 << 20
"""Bytes after which lines that were counted are removed: there is one for each 32 KiB of content."""


@dataclass
class LfsProgress:
    """Lines are `download 1/10 4096/65536 name`: which file of how many, bytes of it, and how many it has."""

    path: Path
    progress: Progress
    _at: int = 0
    _done: dict[bytes, int] = field(default_factory=dict)

    def look(self) -> None:
        """Counts what is new."""
        with suppress(OSError), self.path.open("r+b") as file:
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._at += len(line)
                self._count(line)
            # It appends. A line that comes in this very moment is lost, but the next one of its file says more.
            if self._at > LONGEST and os.fstat(file.fileno()).st_size == self._at:
                os.ftruncate(file.fileno(), 0)
                self._at = 0

    def _count(self, line: bytes) -> None:
        fields = line.split(b" ", 3)
        part = fields[2].partition(b"/")[0] if len(fields) == 4 else b""
        if fields[0] in (b"download", b"upload") and part.isdigit():
            before = self._done.get(fields[3], 0)
            self._done[fields[3]] = int(part)
            self.progress.add(size=int(part) - before)


@contextmanager
def followed(folder: Path, progress: Progress) -> Iterator[LfsProgress]:
    """A file for one call, in memory where that is possible and in the folder else.

    SIGKILL leaves one behind of a mebibyte or little more; memory of a pod goes with the pod.
    """
    inside = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else folder
    with TemporaryDirectory(prefix="stowplan-lfs-", dir=inside) as name:
        yield LfsProgress(Path(name) / "progress", progress)
