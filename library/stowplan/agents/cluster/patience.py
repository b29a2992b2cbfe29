"""Time for which an RBAC right may be missing before an agent gives up."""

from dataclasses import dataclass

from stowplan.agents.cluster.answers import Refused, Trouble

AT_START = 30.0
"""Seconds for which a right may be missing that was never there.

An API server applies a new Role and RoleBinding only after a moment.
"""

LATER = 600.0
"""Seconds for which a right may be missing that was there before.

Somebody may be about to restore the right. Giving up would end a running training group, or lose its output.
"""

_NO_RIGHT = frozenset({401, 403})


@dataclass(slots=True)
class Patience:
    """Record of refusals of one kind of request, such as reading one Job, and the decision when to give up.

    Times are in seconds, of any monotonic clock.
    """

    at_start: float = AT_START
    """Seconds for which the right may be missing before it was there."""
    _allowed_before: bool = False
    _refused_since: float | None = None

    def lasts(self, trouble: Trouble | None, now: float) -> bool:
        """Return whether to go on after an answer. False if the right has been missing for too long.

        `trouble` is None for an allowed request.
        """
        if trouble is None:
            self._allowed_before, self._refused_since = True, None
            return True
        if not isinstance(trouble, Refused) or trouble.status not in _NO_RIGHT:
            return True
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since < (LATER if self._allowed_before else self.at_start)
