"""Decision when to stop waiting for a dataset. It uses neither clock nor file system."""

from dataclasses import dataclass, field

from stowplan.agents.wait.dataset.readiness import Poll
from stowplan.agents.wait.outcome import WaitOutcome
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.wait_config import WaitConfig

OLD_FAILURE = 300.0
"""Seconds for which a failure is ignored that the first poll of a readable mount already found.

It may come from an older spec, and the new sync is about to remove the file that records it. A failure that a later
poll finds after any other state counts at once.
"""

REFUSAL = 60.0
"""Seconds for which missing permission to read is ignored, since a recovering mount may refuse every user."""


@dataclass
class DatasetPatience:
    """Record of the polls so far, and the decision whether to go on waiting. Times are seconds since the start."""

    config: WaitConfig
    _first: Poll | None = None
    """Result of the first poll that could read the mount."""
    _changed: bool = False
    """True if a later poll that could read the mount had another result than `_first`."""
    _since: float = field(default=0.0)
    _last: Poll | None = None

    def after(self, poll: Poll | None, now: float) -> WaitOutcome | None:
        """Record the result of a poll, and return the outcome of the wait; None to go on waiting.

        `now` is the number of seconds since the wait began, and never decreases. `poll` is None while a poll hangs, and
        then only the timeout counts. Call this after each poll, and repeatedly while one hangs.
        """
        if poll is None:
            return self._late(now)
        if poll.state not in ("refused", "broken"):
            self._first = self._first or poll
            self._changed = self._changed or poll != self._first
        if self._last is None or self._last != poll:
            self._since = now
        self._last = poll
        if poll.state == "ready":
            return WaitOutcome(ExitCode.DONE, "Ready", f"Dataset {self.config.dataset} is ready: {poll.text}")
        stood = now - self._since
        if poll.state == "failed" and (self._changed or stood >= OLD_FAILURE):
            return WaitOutcome(ExitCode.NOT_FOUND, "SyncFailed", self._sentence(f"will not be ready: {poll.text}"))
        if poll.state == "refused" and stood >= REFUSAL:
            return WaitOutcome(ExitCode.AUTH, "Refused", self._sentence(f"cannot be looked at: {poll.text}"))
        return self._late(now)

    def _late(self, now: float) -> WaitOutcome | None:
        if now < self.config.timeout:
            return None
        text = self._last.text if self._last else "a look at its mount does not return"
        sentence = self._sentence(f"is not {self.config.until} after {self.config.timeout} s: {text}")
        code = ExitCode.TRANSIENT if self.config.retry else ExitCode.SOFT_DEADLINE
        return WaitOutcome(code, "Timeout", sentence)

    def _sentence(self, rest: str) -> str:
        return f"Dataset {self.config.dataset} {rest}. Its status says more"
