"""When a whole training job starts again after a failure."""

from collections.abc import Iterable
from typing import NamedTuple

_SIGNALS = 128
"""The least exit code of a process that a signal ended, by the convention of shells: 128 and the signal's number."""


class Restart(NamedTuple):
    """How often a job starts again, and what ends it instead.

    `most` is the number of restarts; those after the loss or the eviction of a pod do not count. `final` are the exit
    codes of a role's first container that end the job, from 1 to 255, ascending; any other failure restarts it.
    """

    most: int
    final: tuple[int, ...]


def all_but(codes: Iterable[int]) -> tuple[int, ...]:
    """Return the exit codes with which a program may end by itself, 1 to 127, without those given."""
    given = set(codes)
    return tuple(code for code in range(1, _SIGNALS) if code not in given)
