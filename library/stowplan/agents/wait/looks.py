"""Looks at something that may hang: they are made in a thread, and the wait goes on without them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, Queue
from typing import TypeVar

Seen = TypeVar("Seen")
Result = TypeVar("Result")

_TICK = 1.0
"""Maximum seconds between two decisions, and until a signal ends the process."""

_LOG_SECONDS = 60.0
"""Minimum seconds between two log lines about a wait."""


def result_of(
    work: Callable[[Callable[[Seen], None]], Result],
    decide: Callable[[Seen | None, float], Result | None],
    say: Callable[[Seen, int], None],
) -> Result:
    """Run `work` in a thread, and return its result, or the first one of `decide`. Raises what either raises.

    `work` calls the function that it gets with all that it sees. `decide` gets each of these, or None after a second
    without any, and the seconds since the beginning; it returns None to go on. `say` gets what was seen last and these
    seconds, at most once a minute, to write them to the log. Both are called in the thread of the caller. That of
    `work` is abandoned, and runs on, if `decide` ends the wait.
    """
    events: Queue[Future[Result] | Seen] = Queue()
    threading.Thread(target=_run, args=(work, events), daemon=True).start()
    began, said = time.monotonic(), -_LOG_SECONDS
    last: Seen | None = None
    while True:
        try:
            event = events.get(timeout=_TICK)
        except Empty:
            event = None
        if isinstance(event, Future):
            return event.result()
        last, seconds = event or last, time.monotonic() - began
        result = decide(event, seconds)
        if result is not None:
            return result
        if last is not None and seconds - said >= _LOG_SECONDS:
            said = seconds
            say(last, int(seconds))


def _run(work: Callable[[Callable[[Seen], None]], Result], events: "Queue[Future[Result] | Seen]") -> None:
    ended: Future[Result] = Future()
    try:
        ended.set_result(work(events.put))
    except BaseException as error:
        ended.set_exception(error)
    events.put(ended)
