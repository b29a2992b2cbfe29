"""Request to stop the work early: its cause and its time."""

import threading
from typing import Literal

from stowplan.agents.attempt.failure import StoppedError

Why = Literal["signal", "deadline", "failure"]


class Stop:
    """Request to stop, which can be set but not taken back. Threads check it between two steps of their work."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self.why: Why | None = None
        """First cause of the stop; None before the stop."""

    def set(self, why: Why) -> None:
        """Request the stop. Of several causes the first one remains. A signal handler may call this."""
        # A signal handler may call this while the interrupted thread holds the lock: waiting would never end.
        if self._lock.acquire(blocking=False):
            self.why = self.why or why
            self._lock.release()
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise StoppedError if the stop is requested."""
        if self._event.is_set():
            raise StoppedError

    def wait(self) -> None:
        """Return once the stop is requested. Raise nothing."""
        self._event.wait()

    def sleep(self, seconds: float) -> None:
        """Wait for `seconds`. Raise StoppedError as soon as the stop is requested."""
        if self._event.wait(seconds):
            raise StoppedError
