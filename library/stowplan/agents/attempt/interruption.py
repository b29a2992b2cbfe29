"""Interruptible calls: the caller stops waiting for a call that ignores signals and deadlines or hangs in a file
system.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from stowplan.agents.attempt.failure import StoppedError, contained
from stowplan.agents.attempt.stop import Stop, Why

T = TypeVar("T")

LOOK_SECONDS = 0.1

Patience = Callable[[Why | None], float]
"""Seconds that a call may still take after the stop, as a function of the stop's cause."""


def _none(_: Why | None) -> float:
    return 0.0


def interruptible(stop: Stop, call: Callable[[], T], patience: Patience = _none) -> T:
    """Run `call` in another thread and return its result or raise its error. Only the main thread receives signals.

    Raises StoppedError if the call still runs `patience` seconds after the stop. The call's thread is then abandoned.
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
