"""SIGKILL at any moment of an agent's work, on a machine of any speed."""

import contextlib
import os
import random
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LONGER = 1.2
"""After a kill. With what a miss takes away three of four strikes are kills, and the others come after the end."""
MOST = 20
"""Attempts for each kill that there may be. Those that find out how long an attempt works are three, and of each four
that follow one is a miss: a test with more has an agent that does not begin to work, or a machine that stands still.
"""


@dataclass
class Kills:
    """Attempts of which so many are killed; all that they know of the machine is what the ones before have met."""

    count: int
    """How many there are to be, beside the attempts that end before they are struck."""
    chance: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311 - times of a test
    seconds: float = 2.0
    """Until a kill comes at the latest: somewhat more than an attempt works if nobody disturbs it, once some are over.

    Too much in the beginning, since that is mended sooner than too little.
    """
    done: int = 0

    def __iter__(self) -> Iterator[int]:
        """The numbers of attempts, each of which is to be struck once, until enough are killed."""
        for number in range(MOST * self.count):
            if self.done == self.count:
                return
            yield number
        raise AssertionError(f"too few kills: {self}")

    def strike(self, process: "subprocess.Popen[str]", begun: Callable[[], bool] | None = None) -> None:
        """Waits until the work of this agent has begun, and for a random part of it. Then nothing is left of the agent.

        An agent that was done before must have succeeded: whatever the kills before have left, its attempt went well.
        """
        while not (begun() if begun else works(process)) and process.poll() is None:
            time.sleep(0.002)
        since = time.monotonic()
        if ends(process, self.chance.uniform(0, self.seconds)):
            output, _ = process.communicate()
            assert process.returncode == 0, output
            self.seconds = (self.seconds + 3 * (time.monotonic() - since)) / 4
            return
        process.kill()
        process.communicate()
        self.done += 1
        self.seconds *= LONGER


def works(process: "subprocess.Popen[str]") -> bool:
    """Whether an agent has all its imports behind it: it is then that it begins its first thread."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        return "\nThreads:\t" in status and "\nThreads:\t1\n" not in status
    return False


def ends(process: "subprocess.Popen[str]", seconds: float) -> bool:
    """Whether it ends within this time."""
    if process.poll() is not None:
        # Its number may be another's by now.
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
