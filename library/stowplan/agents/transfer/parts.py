"""A large file that comes in parts: a file of its full size, and a journal of the parts that it holds.

The journal is a header line (JSON), then a line `w <part>` for each part that was written and a line `s <count>`
whenever the first so many of them were made durable. After SIGKILL every part of a whole line counts, after a crash of
the node those that were durable.
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
"""Time between two lines `s`."""

PART, JOURNAL, WHOLE = ".part", ".parts", ".whole"


class Piece(Protocol):
    """What is fetched: one version of one object or file."""

    @property
    def key(self) -> str:
        """Its name, for whoever finds the journal."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def identity(self) -> str:
        """Names this version of it, and no other one."""


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, slots=True)
class Extent:
    """One part: its number, and the bytes from `start` to before `end`."""

    number: int
    start: int
    end: int


class PartFile(Generic[P]):
    """The parts of one version of one file. Threads may write different parts at one time."""

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
        """Parts that are still to be fetched."""
        count = -(-self.entry.size // self.part_size)
        there = set(self._written)
        return [self._extent(number) for number in range(count) if number not in there]

    @property
    def present(self) -> int:
        """Bytes that are there."""
        return sum(each.end - each.start for each in map(self._extent, self._written))

    def write(self, data: bytes | memoryview, offset: int) -> None:
        """Some bytes of a part, where they belong."""
        view = memoryview(data)
        while view:
            count = os.pwrite(self._descriptor, view, offset)
            view, offset = view[count:], offset + count

    def read(self, size: int, offset: int) -> bytes:
        """Bytes that were written before."""
        return os.pread(self._descriptor, size, offset)

    def done(self, extent: Extent) -> None:
        """All bytes of a part were written."""
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
        """Makes all of it durable, with a time of last change in seconds; gives a descriptor to read it."""
        if modified is not None:
            os.utime(self._descriptor, (modified, modified))
        os.fsync(self._descriptor)
        return self._descriptor

    def close(self) -> None:
        self._journal.close()
        os.close(self._descriptor)

    def forget(self) -> None:
        """Removes what is left of it."""
        self.file.unlink(missing_ok=True)
        self._journal_path.unlink(missing_ok=True)

    def _line(self, text: str) -> None:
        self._journal.write(text)
        self._journal.flush()

    def _extent(self, number: int) -> Extent:
        start = number * self.part_size
        return Extent(number, start, min(start + self.part_size, self.entry.size))

    def _begin(self, part_size: int) -> list[int]:
        """Reads the journal of an earlier attempt, or begins one."""
        header, written = _read(self._journal_path)
        if not (header and self.file.exists() and self.file.stat().st_size == self.entry.size):
            self.file.unlink(missing_ok=True)
            header, written = {"partSize": part_size}, []
        self.part_size = int(header["partSize"])
        head = json.dumps({"key": self.entry.key, "partSize": self.part_size, "boot": boot()})
        body = "".join(f"w {number}\n" for number in written)
        # What counts now is there, but only what was synced before is durable: the first line `s` says so again.
        replace(self._journal_path, f"{head}\n{body}")
        return written


def _read(path: Path) -> tuple[dict[str, Any] | None, list[int]]:
    """Header and parts of a journal; a last line without its end was being written when the agent was killed."""
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
