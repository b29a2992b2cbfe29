"""How long to wait before the next try."""

import random
from dataclasses import dataclass

FIRST = 0.5
LONGEST = 30.0


@dataclass(slots=True)
class Backoff:
    """Doubles from half a second to half a minute; a part of each wait is left to chance.

    Many agents lose the same server at the same moment, and should not come back at the same moment.
    """

    _next: float = FIRST

    def seconds(self) -> float:
        """The next wait in seconds: between a half of the present step and all of it."""
        step = self._next
        self._next = min(LONGEST, step * 2)
        return step * random.uniform(0.5, 1)  # noqa: S311 - no secret

    def reset(self) -> None:
        """Begin anew, after something went well."""
        self._next = FIRST
