"""Large file that is fetched in parts: a file of its full size, and a journal of its finished parts.

The journal is a header line (JSON), then a line `w <part>` for each written part, and a line `s <count>` each time the
first `count` of them were made durable. After SIGKILL every part with a whole line counts; after a crash of the node,
only the durable ones.
"""

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from stowplan.agents.attempt.safe_files import boot, replace

SYNC_SECONDS = 5.0
"""Seconds between two lines `s`."""

PART, JOURNAL, WHOLE = ".part", ".parts", ".whole"


class Piece(Protocol):
    """One version of one object or file."""

    @property
    def key(self) -> str:
        """Name, for people who read the journal."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    @property
    def identity(self) -> str:
        """Identifier of this version."""


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, slots=True)
class Extent:
    """One part: its number, and the bytes from `start` to before `end`."""

    number: int
    start: int
    end: int


class PartFile(Generic[P]):
    """Parts of one version of one file. Threads may write different parts in parallel."""

    def __init__(self, directory: Path, entry: P, part_size: int) -> None:
        self.entry = entry
        self.file = directory / f"{entry.identity}{PART}"
        self._journal_path = directory / f"{entry.identity}{JOURNAL}"
        self._lock = threading.Lock()
        self._written = self._begin(part_size)
        self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.ftruncate(self._descriptor, entry.size)
        self._journal = self._journal_path.open("a", encoding="ascii")
        self._synced_at = time.monotonic()

    @property
    def missing(self) -> list[Extent]:
        """Return the parts that are still missing."""
        count = -(-self.entry.size // self.part_size)
        there = set(self._written)
        return [self._extent(number) for number in range(count) if number not in there]

    @property
    def present(self) -> int:
        """Return the number of bytes in finished parts."""
        return sum(each.end - each.start for each in map(self._extent, self._written))

    def write(self, data: bytes | memoryview, offset: int) -> None:
        """Write bytes of a part at their offset."""
        view = memoryview(data)
        while view:
            count = os.pwrite(self._descriptor, view, offset)
            view, offset = view[count:], offset + count

    def read(self, size: int, offset: int) -> bytes:
        """Read bytes that were written before."""
        return os.pread(self._descriptor, size, offset)

    def done(self, extent: Extent) -> None:
        """Record that all bytes of a part were written."""
        with self._lock:
            self._written.append(extent.number)
            self._line(f"w {extent.number}\n")
            count, now = len(self._written), time.monotonic()
            due = now - self._synced_at >= SYNC_SECONDS
            if due:
                self._synced_at = now
        if due:
            os.fdatasync(self._descriptor)
            with self._lock:
                self._line(f"s {count}\n")

    def finish(self, modified: int | None = None) -> int:
        """Make the file durable, with a modification time in seconds, and return a descriptor to read it."""
        if modified is not None:
            os.utime(self._descriptor, (modified, modified))
        os.fsync(self._descriptor)
        return self._descriptor

    def close(self) -> None:
        self._journal.close()
        os.close(self._descriptor)

    def forget(self) -> None:
        """Remove the file and its journal."""
        self.file.unlink(missing_ok=True)
        self._journal_path.unlink(missing_ok=True)

    def _line(self, text: str) -> None:
        self._journal.write(text)
        self._journal.flush()

    def _extent(self, number: int) -> Extent:
        start = number * self.part_size
        return Extent(number, start, min(start + self.part_size, self.entry.size))

    def _begin(self, part_size: int) -> list[int]:
        """Read the journal of an earlier attempt, or start one."""
        header, written = _read(self._journal_path)
        if not (header and self.file.exists() and self.file.stat().st_size == self.entry.size):
            self.file.unlink(missing_ok=True)
            header, written = {"partSize": part_size}, []
        self.part_size = int(header["partSize"])
        head = json.dumps({"key": self.entry.key, "partSize": self.part_size, "boot": boot()})
        body = "".join(f"w {number}\n" for number in written)
        # The present parts exist, but only the synced ones are durable, as the next line `s` records.
        replace(self._journal_path, f"{head}\n{body}")
        return written


def _read(path: Path) -> tuple[dict[str, Any] | None, list[int]]:
    """Read header and parts of a journal. A last line without an end was cut off when the agent was killed."""
    try:
        text = path.read_text(encoding="ascii")
    except (FileNotFoundError, ValueError):
        return None, []
    lines = text[: text.rfind("\n") + 1].splitlines()
    try:
        header = json.loads(lines[0])
        written = [int(line[2:]) for line in lines[1:] if line.startswith("w ")]
        synced = max((int(line[2:]) for line in lines[1:] if line.startswith("s ")), default=0)
        same_boot = header["boot"] == boot() != ""
        int(header["partSize"])
    except (ValueError, LookupError, TypeError):
        return None, []
    return header, list(dict.fromkeys(written if same_boot else written[:synced]))
