"""Calls that must not hang."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

HANGS = 300.0
"""Seconds after which a call hangs: much more than each takes on a busy machine."""


def within(call: Callable[[], T]) -> T:
    """What a call gives or raises; a failure of the test if it hangs."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANGS)
    assert not thread.is_alive(), "it hangs"
    if errors:
        raise errors[0]
    return results[0]
