"""Counters of a copy: how far it is, at what rate, and what it did with each file."""

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from stowplan.schema.agents.left_out import LONGEST_EXAMPLE, MOST_EXAMPLES, Reason

WINDOW_SECONDS = 30.0
"""The rate is an average over this many seconds."""


@dataclass(slots=True)
class LeftOut:
    """What is left out for one reason: the number of names, and the first ones."""

    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass
class Progress:
    """Counters of one attempt, which all of its threads share. `began` is its start, by `time.monotonic`."""

    files_total: int = 0
    bytes_total: int = 0
    files_done: int = 0
    bytes_done: int = 0
    files_unchanged: int = 0
    files_deleted: int = 0
    files_unknown: int = 0
    """Files of the destination that the source does not list, and that remain."""
    left_out: dict[Reason, LeftOut] = field(default_factory=dict)
    """What the source has and is not copied."""
    files_unverified: int = 0
    """Files that this attempt copied and whose content no checksum of the source could prove."""
    resumed_bytes: int = 0
    """Part of `bytes_done` that an earlier attempt copied."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    began: float = field(default_factory=time.monotonic)
    _moments: deque[tuple[float, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._moments.append((self.began, 0))

    def add(self, *, files: int = 0, size: int = 0, resumed: int = 0) -> None:
        """Add to the counters: finished files, bytes that this attempt copied, and bytes of an earlier attempt.

        `size` are bytes of this attempt; a negative number takes back bytes that must be copied again. `resumed` are
        bytes that an earlier attempt copied; they do not count for the rate.
        """
        with self._lock:
            self.files_done += files
            self.bytes_done += size + resumed
            self.resumed_bytes += resumed

    def unchanged(self, size: int) -> None:
        """Count a file of `size` bytes that was there already."""
        with self._lock:
            self.files_unchanged += 1
            self.files_done += 1
            self.bytes_done += size
            self.resumed_bytes += size

    def begin_again(self) -> None:
        """Set the counters of a listing to 0, since it is read once more before anything is copied."""
        with self._lock:
            self.files_total = self.bytes_total = self.files_unchanged = 0
            self.files_done = self.bytes_done = self.resumed_bytes = 0

    def unverified(self) -> None:
        """Count a copied file whose content no checksum of the source could prove."""
        with self._lock:
            self.files_unverified += 1

    def leave_out(self, reason: Reason, name: str) -> None:
        """Count a name of the source that is not copied."""
        with self._lock:
            kept = self.left_out.setdefault(reason, LeftOut())
            kept.count += 1
            if len(kept.examples) < MOST_EXAMPLES:
                kept.examples.append(name.encode(errors="replace").decode()[:LONGEST_EXAMPLE])

    def fates(self) -> dict[str, Any]:
        """Return what the copy did with the files, as the status has it (`AttemptReport`)."""
        with self._lock:
            return {
                "copied": self.files_done - self.files_unchanged,
                "unchanged": self.files_unchanged,
                "deleted": self.files_deleted,
                "unknown": self.files_unknown,
                "unverified": self.files_unverified,
                "leftOut": [
                    {"reason": reason, "count": kept.count, "examples": list(kept.examples)}
                    for reason, kept in sorted(self.left_out.items())
                ],
            }

    def snapshot(self, now: float | None = None) -> dict[str, int]:
        """Return the counts at the moment `now`, by their names in status and log.

        `now` is a time of `time.monotonic` in seconds; None for the present one. `bytesDone` includes what was copied
        of files that are not complete yet. `secondsLeft`, an estimate, is missing if nothing was copied lately.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            brought = self.bytes_done - self.resumed_bytes
            self._moments.append((now, brought))
            while len(self._moments) > 2 and now - self._moments[1][0] > WINDOW_SECONDS:
                self._moments.popleft()
            begin, before = self._moments[0]
            rate = (brought - before) / (now - begin) if now > begin else 0.0
            left = max(0, self.bytes_total - self.bytes_done)
            counts = {
                "filesTotal": self.files_total,
                "bytesTotal": self.bytes_total,
                "filesDone": self.files_done,
                "bytesDone": self.bytes_done,
                "filesUnchanged": self.files_unchanged,
                "filesDeleted": self.files_deleted,
                "filesUnknown": self.files_unknown,
                "filesUnverified": self.files_unverified,
                "filesLeftOut": sum(each.count for each in self.left_out.values()),
                "bytesPerSecond": max(0, int(rate)),
            }
            if rate > 0 or not left:
                counts["secondsLeft"] = int(left / rate) + 1 if left else 0
            return counts
