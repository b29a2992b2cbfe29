"""How slowly, and how much, a server may answer one request."""

import io
import time
from dataclasses import dataclass
from typing import Any

LEAST_BYTES, PACE_SECONDS = 64 << 10, 60.0
"""Bytes that must come in each minute of waiting, about 1 KiB a second; the time that a disk takes does not count."""

OVERHEAD = 1 << 20
"""Bytes that an answer may have beside its body and a quarter of it: its head. The quarter is for small chunks."""


class PaceError(OSError):
    """The server is too slow, or sends far more than was asked for."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one answer may take."""

    size: int
    """Most bytes of its body."""
    seconds: float | None = None
    """Waiting after which there must be `LEAST_BYTES`; None for `PACE_SECONDS`."""


@dataclass
class Pace:
    """What came of the answer that is under way on one connection."""

    _most: int = OVERHEAD
    _seconds: float = PACE_SECONDS
    _came: int = 0
    _waited: float = 0.0
    _since: int = 0
    """Bytes that had come when the present minute of waiting began."""

    def begin(self, allowed: Allowance) -> None:
        """A new request is sent."""
        self._most = OVERHEAD + allowed.size + allowed.size // 4
        self._seconds = PACE_SECONDS if allowed.seconds is None else allowed.seconds
        self._came = self._since = 0
        self._waited = 0.0

    def add(self, count: int, seconds: float) -> None:
        """So many bytes came after so many seconds of waiting; PaceError."""
        self._came += count
        self._waited += seconds
        if self._came > self._most:
            raise PaceError(f"The answer has more than {self._most} bytes")
        if self._waited < self._seconds:
            return
        if self._came - self._since < LEAST_BYTES:
            raise PaceError(f"Only {self._came - self._since} bytes came in {self._waited:.0f} seconds")
        self._waited, self._since = 0.0, self._came


class PacedReader(io.RawIOBase):
    """Reads from another stream, and tells a `Pace` what comes."""

    def __init__(self, inner: Any, pace: Pace) -> None:
        super().__init__()
        self._inner, self._pace = inner, pace

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The next bytes; OSError, also where there is no pace in it."""
        began = time.monotonic()
        count: int | None = self._inner.readinto(buffer)
        self._pace.add(count or 0, time.monotonic() - began)
        return count

    def close(self) -> None:
        self._inner.close()
        super().close()
