"""Limits for the pace and size of an answer."""

import io
import time
from dataclasses import dataclass
from typing import Any

LEAST_BYTES, PACE_SECONDS = 64 << 10, 60.0
"""Minimum bytes per `PACE_SECONDS` of waiting, about 1 KiB a second. Time for writing to disk is no waiting."""

OVERHEAD = 1 << 20
"""Bytes that an answer may have above 5/4 of its body, for its head. The quarter is for the overhead of chunks."""


class PaceError(OSError):
    """The server is too slow, or sends far more than requested."""


@dataclass
class Pace:
    """Count of received bytes and waiting time of one answer, with the limits for both."""

    size: int
    """Maximum size of its body in bytes."""
    seconds: float | None = None
    """Seconds of waiting in which at least `LEAST_BYTES` must arrive; None for `PACE_SECONDS`."""
    _came: int = 0
    _waited: float = 0.0
    _since: int = 0
    """Value of `_came` at the beginning of the current interval of waiting."""

    def add(self, count: int, seconds: float) -> None:
        """Record `count` bytes after `seconds` of waiting. Raises PaceError if the answer is too large or too slow."""
        self._came += count
        self._waited += seconds
        most = OVERHEAD + self.size + self.size // 4
        if self._came > most:
            raise PaceError(f"The answer has more than {most} bytes")
        if self._waited < (PACE_SECONDS if self.seconds is None else self.seconds):
            return
        if self._came - self._since < LEAST_BYTES:
            raise PaceError(f"Only {self._came - self._since} bytes came in {self._waited:.0f} seconds")
        self._waited, self._since = 0.0, self._came


class PacedReader(io.RawIOBase):
    """Raw stream that reports the size and duration of each read to a `Pace`."""

    def __init__(self, inner: Any, pace: Pace) -> None:
        super().__init__()
        self._inner, self._pace = inner, pace

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read bytes into `buffer` and return their number. Raises OSError, which is PaceError above a limit."""
        began = time.monotonic()
        count: int | None = self._inner.readinto(buffer)
        self._pace.add(count or 0, time.monotonic() - began)
        return count

    def close(self) -> None:
        self._inner.close()
        super().close()
