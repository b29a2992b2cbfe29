"""Work on many like things, shared out to processes."""

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from heapq import merge
from math import ceil
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 8
"""Processes: each one takes some 90 MiB, Node included, and what one process does before and after is not less."""

_TICKET = 4
"""Bytes of a number."""


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

    What `work` and `items` hold is there in every process as it is now. Results are pickled into files without names,
    and come out when all processes have ended: so the memory of both is never needed at once. An exception comes out
    where its result would have come, and ends its process.
    """
    if number < 2 or len(items) < 2:
        yield from map(work, items)
        return
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile()) for _ in range(min(number, len(items)))]
        _run(work, items, files)
        for _, error, result in merge(*map(_results, files), key=itemgetter(0)):
            if error is not None:
                raise error
            yield result


def _run(work: Callable[[Item], Result], items: Sequence[Item], files: Sequence[IO[bytes]]) -> None:
    """A process for each file; returns when all have ended."""
    with TemporaryFile(buffering=0) as tickets:
        tickets.write(b"".join(index.to_bytes(_TICKET) for index in range(len(items))))
        tickets.seek(0)
        fork = multiprocessing.get_context("fork").Process
        started = [fork(target=_take, args=(work, items, tickets, file), daemon=True) for file in files]
        try:
            for each in started:
                each.start()
            for each in started:
                each.join()
        finally:
            _end(started)
    if any(each.exitcode for each in started):
        raise RuntimeError(f"processes ended with {', '.join(str(each.exitcode) for each in started)}")


def _take(work: Callable[[Item], Result], items: Sequence[Item], tickets: IO[bytes], file: IO[bytes]) -> None:
    """Work on the items that this process gets tickets for: forked processes share their place in an open file."""
    # Ctrl-C in a terminal reaches all processes; the first one ends the others, which have nothing to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent process ends its workers by SIGTERM, which it may handle itself.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while ticket := tickets.read(_TICKET):
        index = int.from_bytes(ticket)
        try:
            file.write(pickle.dumps((index, None, work(items[index])), pickle.HIGHEST_PROTOCOL))
        except Exception as error:
            file.write(pickle.dumps((index, error, None)))
            break
    file.flush()


def _end(started: "Sequence[ForkProcess]") -> None:
    """End those that still run, where the wait for them was broken off."""
    for each in started:
        if each.is_alive():
            each.terminate()
            each.join()


def _results(file: IO[bytes]) -> Iterator[tuple[int, Exception | None, Any]]:
    """What a process left, in the order of the items."""
    file.seek(0)
    with suppress(EOFError):
        while True:
            yield pickle.load(file)  # noqa: S301 - our own
