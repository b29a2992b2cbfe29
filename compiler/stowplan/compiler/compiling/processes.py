"""Work on many like things, shared out to processes."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 8
"""Processes: each one takes some 90 MiB, Node included, and what one process does before and after is not less."""


def processes(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """How many may run at once: one for each processor that this process may use, but not more than `MOST`.

    A container may be given less than the processors it sees: `groups` are the control groups as it sees them. A copy
    of the process that shares its memory (fork) costs some milliseconds; elsewhere than on Linux there is none that is
    safe, and starting Python anew would cost more than it gains.
    """
    if sys.platform != "linux":
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), _quota(groups), MOST))


def _quota(groups: Path) -> int:
    """Processors that the kernel gives time for, the last one perhaps in part; `MOST` where it sets no limit.

    The files are those of control groups v2 and v1.
    """
    with suppress(OSError, ValueError):
        quota, period = (groups / "cpu.max").read_text().split()
        return MOST if quota == "max" else ceil(int(quota) / int(period))
    with suppress(OSError, ValueError):
        v1 = groups / "cpu"
        given, per = (int((v1 / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        return MOST if given < 0 else ceil(given / per)
    return MOST


def mapped(work: Callable[[Item], Result], items: Sequence[Item], number: int) -> Iterator[Result]:
    """The results of `work`, in the order of `items`, by so many processes; by this one alone for one.

    Workers are forked, so `work` and `items` need not be pickled; results are. Raises what `work` raises, and
    `BrokenProcessPool` where a worker dies.
    """
    if number < 2 or len(items) < 2:
        yield from map(work, items)
        return
    pool = ProcessPoolExecutor(min(number, len(items)), get_context("fork"), _begin, (work, items))
    try:
        yield from pool.map(_work_on, range(len(items)))
    finally:
        pool.shutdown(cancel_futures=True)


_inherited: list[Any] = []
"""In a worker: what it does, and the items."""


def _begin(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    # Ctrl-C in a terminal reaches all processes; the first one ends the others, which have nothing to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent process ends its workers by SIGTERM, which it may handle itself.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _inherited[:] = work, items


def _work_on(index: int) -> Any:
    work, items = _inherited
    return work(items[index])
