"""Ends the wait for a call that knows nothing of signals and deadlines, or that a mount may keep."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.stop import Stop

T = TypeVar("T")

LOOK_SECONDS = 0.1


def interruptible(stop: Stop, call: Callable[[], T], patience: float = 0.0) -> T:
    """What a call gives or raises, which runs in another thread: only the main one hears signals.

    StoppedError so many seconds after there is to be no more work: the call is left alone.
    """
    over = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    threading.Thread(target=work, daemon=True).start()
    end: float | None = None
    while not over.wait(LOOK_SECONDS):
        if stop.is_set():
            end = time.monotonic() + patience if end is None else end
            if time.monotonic() >= end:
                raise StoppedError
    if errors:
        raise errors[0]
    return results[0]
