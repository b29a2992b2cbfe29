"""Coroutines that run until a signal ends the process."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LEAVE_SECONDS = 2.0
"""Seconds that cancelled coroutines may take to clean up."""


async def until_signal(*works: Coroutine[Any, Any, T]) -> T | None:
    """Run coroutines at the same time until one ends or a signal arrives, then cancel the others.

    Returns the result of the coroutine that ended, or raises its exception. Returns None after SIGTERM or SIGINT.
    """
    loop = asyncio.get_running_loop()
    signalled = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signalled.set)
    tasks = [loop.create_task(each) for each in works]
    done, rest = await asyncio.wait({*tasks, loop.create_task(signalled.wait())}, return_when=asyncio.FIRST_COMPLETED)
    for each in rest:
        each.cancel()
    if rest:
        await asyncio.wait(rest, timeout=LEAVE_SECONDS)
    first = next((each for each in tasks if each in done), None)
    return None if first is None else first.result()
