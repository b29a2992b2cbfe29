"""Time for which a right may be missing before await gives up."""

from dataclasses import dataclass

AT_START = 30.0
"""Seconds. Rights reach the servers a moment after their Role and RoleBinding were created."""

LATER = 600.0
"""Seconds. A running group is worth more than a quick answer: its rights may be about to be renewed."""

_NO_RIGHT = frozenset({401, 403})


@dataclass(slots=True)
class Patience:
    """Patience with one kind of request. Times are in seconds, of any monotonic clock."""

    _allowed_before: bool = False
    _refused_since: float | None = None

    def lasts(self, status: int | None, now: float) -> bool:
        """Return whether to go on after an answer with this HTTP status; None for an allowed request."""
        if status is None:
            self._allowed_before, self._refused_since = True, None
            return True
        if status not in _NO_RIGHT:
            return True
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since < (LATER if self._allowed_before else AT_START)
