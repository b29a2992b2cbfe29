"""Work on many like things, shared out to processes."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any]
_items: Sequence[Any]


def processes() -> int:
    """How many may run at once: one for each processor that this process may use.

    A copy of the process that shares its memory (fork) costs some milliseconds; elsewhere than on Linux there is none
    that is safe, and starting Python anew would cost more than it gains.
    """
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def mapped(work: Callable[[Item], Result], items: Sequence[Item], number: int) -> Iterator[Result]:
    """The results of `work`, in the order of `items`, by so many processes; by this one alone for one.

    What `work` and `items` hold is there in every process as it is now; results are pickled. An exception comes out
    where its result would have come.
    """
    if number < 2 or len(items) < 2:
        yield from map(work, items)
        return
    global _work, _items
    _work, _items = work, items
    with multiprocessing.get_context("fork").Pool(min(number, len(items))) as pool:
        yield from pool.imap(_nth, range(len(items)))


def _nth(index: int) -> Any:
    return _work(_items[index])
