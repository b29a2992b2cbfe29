"""Incomplete large file on disk: a file that has the full size from the beginning, and a journal of its finished parts.

The journal is a header line (JSON), then a line `w <part number>` for each written part, and a line `s <count>` each
time the parts of the first `count` lines `w` were made durable. After SIGKILL of the agent all parts with a complete
line `w` are valid. After a crash of the cluster node only the durable ones are.
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
"""Minimum seconds between two lines `s` of the journal."""

PART, JOURNAL, WHOLE = ".part", ".parts", ".whole"
"""Suffixes of files in the folder for incomplete files.

They are for a file in parts, for its journal, and for a file that one request fetches.
"""


class Piece(Protocol):
    """One version of one object or file on the remote side."""

    @property
    def key(self) -> str:
        """Key or path. It is in the journal only for people who read it."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    @property
    def identity(self) -> str:
        """String that differs for each version of each object, and is valid as a file name."""


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, slots=True)
class Extent:
    """One part of a file: its number, counted from 0, and its bytes, from offset `start` to before offset `end`."""

    number: int
    start: int
    end: int


class PartFile(Generic[P]):
    """Incomplete file with the fetched parts of one version, and its journal. Threads may write parts in parallel.

    It continues the incomplete file of an earlier attempt in `directory`, which then also determines the part size.
    """

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
        """Return the parts that are not recorded as finished, by ascending number."""
        count = -(-self.entry.size // self.part_size)
        there = set(self._written)
        return [self._extent(number) for number in range(count) if number not in there]

    @property
    def present(self) -> int:
        """Return the number of bytes in finished parts."""
        return sum(each.end - each.start for each in map(self._extent, self._written))

    def write(self, data: bytes | memoryview, offset: int) -> None:
        """Write bytes at an offset in the file. Call `done` after the last bytes of a part."""
        view = memoryview(data)
        while view:
            count = os.pwrite(self._descriptor, view, offset)
            view, offset = view[count:], offset + count

    def read(self, size: int, offset: int) -> bytes:
        """Return at most `size` bytes of the file, from an offset on; they must have been written before."""
        return os.pread(self._descriptor, size, offset)

    def done(self, extent: Extent) -> None:
        """Record that all bytes of a part were written. Every few seconds this also makes the written parts durable."""
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
        """Make the file durable, and return its descriptor, which stays valid until `close`.

        `modified` is the modification time to set, in seconds since 1970; None for no change.
        """
        if modified is not None:
            os.utime(self._descriptor, (modified, modified))
        os.fsync(self._descriptor)
        return self._descriptor

    def close(self) -> None:
        self._journal.close()
        os.close(self._descriptor)

    def forget(self) -> None:
        """Delete the journal, and the file unless it was moved."""
        self.file.unlink(missing_ok=True)
        self._journal_path.unlink(missing_ok=True)

    def _line(self, text: str) -> None:
        self._journal.write(text)
        self._journal.flush()

    def _extent(self, number: int) -> Extent:
        start = number * self.part_size
        return Extent(number, start, min(start + self.part_size, self.entry.size))

    def _begin(self, part_size: int) -> list[int]:
        """Write a new journal and return the numbers of the parts that are present, in the order of their writing.

        They come from an earlier attempt's journal. The list is empty if there is none, or if its file is missing or
        has the wrong size. This also sets `part_size`: that of the earlier journal, or else the argument.
        """
        header, written = _read(self._journal_path)
        if not (header and self.file.exists() and self.file.stat().st_size == self.entry.size):
            self.file.unlink(missing_ok=True)
            header, written = {"partSize": part_size}, []
        self.part_size = int(header["partSize"])
        head = json.dumps({"key": self.entry.key, "partSize": self.part_size, "boot": boot()})
        body = "".join(f"w {number}\n" for number in written)
        # The new journal has no line `s`: all these parts count as not durable until the next one.
        replace(self._journal_path, f"{head}\n{body}")
        return written


def _read(path: Path) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the header of a journal and the numbers of its valid parts; (None, []) if it is missing or invalid.

    A last line without a newline is ignored: it was cut off when the agent was killed.
    """
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
