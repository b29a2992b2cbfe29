"""Counters of a transfer's progress, and its rate."""

import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field

WINDOW_SECONDS = 30.0
"""The rate is an average over this many seconds."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counts at one moment. `bytes_done` includes the copied bytes of files that are not complete yet."""

    files_total: int
    bytes_total: int
    files_done: int
    bytes_done: int
    files_unchanged: int
    files_deleted: int
    files_left_out: int
    bytes_per_second: int
    seconds_left: int | None
    """Estimated seconds until the end; None if nothing was copied lately."""

    def fields(self) -> dict[str, int]:
        """Return the counts by field name in camelCase, such as `filesTotal`. Counts that are None are left out."""
        words = {name: name.split("_") for name in asdict(self)}
        camel = {name: parts[0] + "".join(map(str.capitalize, parts[1:])) for name, parts in words.items()}
        return {camel[name]: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Progress:
    """Counters of one attempt, which all of its threads share."""

    files_total: int = 0
    bytes_total: int = 0
    files_done: int = 0
    bytes_done: int = 0
    files_unchanged: int = 0
    files_deleted: int = 0
    files_left_out: int = 0
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

    def snapshot(self, now: float | None = None) -> Snapshot:
        now = time.monotonic() if now is None else now
        with self._lock:
            brought = self.bytes_done - self.resumed_bytes
            self._moments.append((now, brought))
            while len(self._moments) > 2 and now - self._moments[1][0] > WINDOW_SECONDS:
                self._moments.popleft()
            begin, before = self._moments[0]
            rate = (brought - before) / (now - begin) if now > begin else 0.0
            left = max(0, self.bytes_total - self.bytes_done)
            return Snapshot(
                self.files_total,
                self.bytes_total,
                self.files_done,
                self.bytes_done,
                self.files_unchanged,
                self.files_deleted,
                self.files_left_out,
                max(0, int(rate)),
                int(left / rate) + 1 if rate > 0 and left else (0 if not left else None),
            )
