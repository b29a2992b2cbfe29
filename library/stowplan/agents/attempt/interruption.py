"""Calls for whose end the caller need not wait: after a stop request it gives up a call that hangs, for example in a
file system.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from stowplan.agents.attempt.failure import StoppedError, contained
from stowplan.agents.attempt.stop import Stop, Why

T = TypeVar("T")

LOOK_SECONDS = 0.1
"""Seconds between two checks whether the stop is requested."""

Patience = Callable[[Why | None], float]
"""Function that takes the cause of the stop and returns the seconds that a call may still take after the stop."""


def interruptible(stop: Stop, call: Callable[[], T], patience: Patience = lambda _: 0.0) -> T:
    """Run `call` in another thread, wait for its end, and return its result or raise its error.

    The calling thread remains free for signals, which Python handles in the main thread only. Raises StoppedError if
    the call has not ended when the seconds that `patience` returns have passed since the stop. The call's thread is
    then abandoned.
    """
    ended: Future[T] = Future()

    def work() -> None:
        try:
            ended.set_result(call())
        except BaseException as error:
            ended.set_exception(contained(error))

    threading.Thread(target=work, daemon=True).start()
    since: float | None = None
    while not wait([ended], LOOK_SECONDS).done:
        if stop.is_set():
            since = time.monotonic() if since is None else since
            if time.monotonic() - since >= patience(stop.why):
                raise StoppedError
    return ended.result()
