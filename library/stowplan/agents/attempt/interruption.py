"""Ends the wait for a call that knows nothing of signals and deadlines, or that a file system may keep."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from stowplan.agents.attempt.failure import StoppedError, contained
from stowplan.agents.attempt.stop import Stop, Why

T = TypeVar("T")

LOOK_SECONDS = 0.1

Patience = Callable[[Why | None], float]
"""Seconds that a call may take to come to its end, by why it is to."""


def _none(_: Why | None) -> float:
    return 0.0


def interruptible(stop: Stop, call: Callable[[], T], patience: Patience = _none) -> T:
    """What a call gives or raises, which runs in another thread: only the main one hears signals.

    StoppedError if it is not over by so long after there is to be no more work: the call is left alone.
    """
    over = threading.Event()
    results: list[T] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(contained(error))
        finally:
            over.set()

    threading.Thread(target=work, daemon=True).start()
    since: float | None = None
    while not over.wait(LOOK_SECONDS):
        if stop.is_set():
            since = time.monotonic() if since is None else since
            if time.monotonic() - since >= patience(stop.why):
                raise StoppedError
    if errors:
        raise errors[0]
    return results[0]
