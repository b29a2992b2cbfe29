"""Ends the wait for a call that knows nothing of signals and deadlines."""

import threading
from collections.abc import Callable
from typing import TypeVar

from stowplan.agents.attempt.stop import Stop

T = TypeVar("T")

LOOK_SECONDS = 0.1


def interruptible(stop: Stop, call: Callable[[], T]) -> T:
    """What a call gives or raises; StoppedError as soon as there is to be no more work: the call is left alone."""
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
    while not over.wait(LOOK_SECONDS):
        stop.check()
    if errors:
        raise errors[0]
    return results[0]
