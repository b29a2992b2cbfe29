"""Time for which an RBAC right may be missing before the await agent gives up."""

from dataclasses import dataclass

AT_START = 30.0
"""Seconds for which a right may be missing that was never there.

An API server applies a new Role and RoleBinding only after a moment.
"""

LATER = 600.0
"""Seconds for which a right may be missing that was there before.

Somebody may be about to restore the right, and giving up would end a running training group.
"""

_NO_RIGHT = frozenset({401, 403})


@dataclass(slots=True)
class Patience:
    """Record of refusals of one kind of request, such as reading one Job, and the decision when to give up.

    Times are in seconds, of any monotonic clock.
    """

    _allowed_before: bool = False
    _refused_since: float | None = None

    def lasts(self, status: int | None, now: float) -> bool:
        """Return whether to go on after an answer. False if the right has been missing for too long.

        `status` is the HTTP status of a refused request; None for an allowed request.
        """
        if status is None:
            self._allowed_before, self._refused_since = True, None
            return True
        if status not in _NO_RIGHT:
            return True
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since < (LATER if self._allowed_before else AT_START)
