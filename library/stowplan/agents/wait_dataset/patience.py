"""Decision when to stop waiting, without clock and file system."""

from dataclasses import dataclass, field

from stowplan.agents.wait_dataset.readiness import View
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.wait_config import WaitConfig

OLD_FAILURE = 300.0
"""Seconds for which a failure from before the start is ignored. It may come from an older spec, and the new sync is
about to remove its marker. A failure that appears later counts at once."""

REFUSAL = 60.0
"""Seconds for which a refusal is ignored, since a mount under recovery may refuse every user for a moment."""


@dataclass(frozen=True, slots=True)
class WaitOutcome:
    """Result of the wait."""

    code: ExitCode
    reason: str
    message: str


@dataclass
class Patience:
    """Results of the polls so far. Times are seconds since the start."""

    config: WaitConfig
    _first: View | None = None
    _since: float = field(default=0.0)
    _last: View | None = None

    def after(self, view: View, now: float) -> WaitOutcome | None:
        """Return the outcome after one more poll; None to go on waiting."""
        self._first = self._first or view
        if self._last is None or self._last != view:
            self._since = now
        self._last = view
        if view.state == "ready":
            return WaitOutcome(ExitCode.DONE, "Ready", f"Dataset {self.config.dataset} is ready: {view.text}")
        stood = now - self._since
        if view.state == "failed" and (view != self._first or stood >= OLD_FAILURE):
            return WaitOutcome(ExitCode.NOT_FOUND, "SyncFailed", self._sentence(f"will not be ready: {view.text}"))
        if view.state == "refused" and stood >= REFUSAL:
            return WaitOutcome(ExitCode.AUTH, "Refused", self._sentence(f"cannot be looked at: {view.text}"))
        return self.late(now)

    def late(self, now: float) -> WaitOutcome | None:
        """Return the outcome of the timeout, also while a poll hangs; None before the timeout."""
        if now < self.config.timeout:
            return None
        text = self._last.text if self._last else "a look at its mount does not return"
        sentence = self._sentence(f"is not {self.config.until} after {self.config.timeout} s: {text}")
        return WaitOutcome(ExitCode.SOFT_DEADLINE, "Timeout", sentence)

    def _sentence(self, rest: str) -> str:
        return f"Dataset {self.config.dataset} {rest}. Its SampleSet's status says more"
