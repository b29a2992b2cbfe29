"""Why and when the work ends before it is done."""

import threading
from typing import Literal

from stowplan.agents.attempt.failure import StoppedError

Why = Literal["signal", "deadline", "failure"]


class Stop:
    """Set once, by whoever comes first; every thread looks at it between two requests."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self.why: Why | None = None

    def set(self, why: Why) -> None:
        # Also called by a signal handler, in whatever this thread does: so it must not wait for the lock.
        if self._lock.acquire(blocking=False):
            self.why = self.why or why
            self._lock.release()
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """StoppedError once it is set."""
        if self._event.is_set():
            raise StoppedError

    def sleep(self, seconds: float) -> None:
        """Waits; StoppedError as soon as it is set."""
        if self._event.wait(seconds):
            raise StoppedError
