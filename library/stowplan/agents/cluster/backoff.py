"""Length of the wait before the next retry."""

import random
from dataclasses import dataclass

FIRST = 0.5
LONGEST = 30.0
"""First and longest wait in seconds."""


@dataclass(slots=True)
class Backoff:
    """Exponential backoff from half a second to half a minute, with jitter.

    Many agents lose the same server at the same moment. The jitter spreads their retries.
    """

    _next: float = FIRST

    def seconds(self) -> float:
        """Return the next wait in seconds, and double the step for the call after that.

        The wait is random: between half of the present step and the whole step.
        """
        step = self._next
        self._next = min(LONGEST, step * 2)
        return step * random.uniform(0.5, 1)  # noqa: S311 - no secret

    def reset(self) -> None:
        """Make the next wait the shortest one again. The caller does this after a success."""
        self._next = FIRST
