"""Work on many items in several processes."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 8
"""Maximum number of processes. Each needs about 90 MiB, its Node.js process included."""


def processes(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the number of processes to use: one for each processor that this process may use, at most `MOST`.

    A container may have a smaller quota of processor time; `groups` is the mount point of its control groups. Only
    Linux can fork safely, which costs milliseconds. Elsewhere the number is 1, because starting Python again would
    take longer than the processes save.
    """
    if sys.platform != "linux":
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), _quota(groups), MOST))


def _quota(groups: Path) -> int:
    """Return the quota of processor time in processors, rounded up; `MOST` if the kernel sets no limit.

    Reads the files of control groups v2, or else v1, below `groups`.
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
    """Yield the results of `work` in the order of `items`, computed by `number` processes.

    Workers are forked, so only the results are pickled. For a `number` below 2, or a single item, this process does the
    work itself. Raises what `work` raises, and `BrokenProcessPool` if a worker dies.
    """
    if number < 2 or len(items) < 2:
        yield from map(work, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - start-up time
    from multiprocessing import get_context  # noqa: PLC0415

    pool = ProcessPoolExecutor(min(number, len(items)), get_context("fork"), _begin, (work, items))
    try:
        yield from pool.map(_work_on, range(len(items)))
    finally:
        pool.shutdown(cancel_futures=True)


_inherited: list[Any] = []
"""In a worker process: the function to apply and the list of items, inherited from the parent process."""


def _begin(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    # Ctrl-C in a terminal reaches all processes. The parent process reports it and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pool ends workers by SIGTERM. A handler of the parent process must not run in them.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _inherited[:] = work, items


def _work_on(index: int) -> Any:
    work, items = _inherited
    return work(items[index])
