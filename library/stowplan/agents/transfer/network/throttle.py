"""Limit of the bytes that a transfer moves in a second."""

import time
from dataclasses import dataclass, field
from threading import Lock

from stowplan.agents.attempt.stop import Stop

STREAM_BYTES = 128 << 10
"""Minimum bytes per second of one stream: servers close connections that stand still for long."""


@dataclass
class Throttle:
    """Delays the threads of a transfer, so that together they move no more than `bytes_per_second`; None: no limit."""

    bytes_per_second: int | None
    stop: Stop
    _free_at: float = 0.0
    """Time, by the monotonic clock, at which all bytes so far would have been moved at the maximum speed."""
    _lock: Lock = field(default_factory=Lock)

    def moved(self, count: int) -> None:
        """Record `count` bytes, and wait until they may have been moved. Raises StoppedError."""
        if self.bytes_per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            self._free_at = max(self._free_at, now) + count / self.bytes_per_second
            wait = self._free_at - now
        self.stop.sleep(wait)
