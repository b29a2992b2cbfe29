"""How far the transfer is."""

import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field

WINDOW_SECONDS = 30.0
"""The rate is that of the last half minute."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counts of one moment. Bytes of files that are partly there count as done."""

    files_total: int
    bytes_total: int
    files_done: int
    bytes_done: int
    files_unchanged: int
    files_deleted: int
    files_left_out: int
    bytes_per_second: int
    seconds_left: int | None

    def fields(self) -> dict[str, int]:
        """By name in camelCase, without what is unknown."""
        words = {name: name.split("_") for name in asdict(self)}
        camel = {name: parts[0] + "".join(map(str.capitalize, parts[1:])) for name, parts in words.items()}
        return {camel[name]: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Progress:
    """Counted by all threads."""

    files_total: int = 0
    bytes_total: int = 0
    files_done: int = 0
    bytes_done: int = 0
    files_unchanged: int = 0
    files_deleted: int = 0
    files_left_out: int = 0
    resumed_bytes: int = 0
    """Bytes of `bytes_done` that an earlier attempt had brought."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    began: float = field(default_factory=time.monotonic)
    _moments: deque[tuple[float, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._moments.append((self.began, 0))

    def add(self, *, files: int = 0, size: int = 0, resumed: int = 0) -> None:
        """Files and bytes that are done, or bytes that are to be done once more (negative)."""
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
