"""When to stop waiting: the decision, without clock and file system."""

from dataclasses import dataclass, field

from stowplan.agents.wait_dataset.readiness import View
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.wait_config import WaitConfig

OLD_FAILURE = 300.0
"""Seconds. A failure that was there from the start may be of an older spec, whose new sync is about to begin and takes
the marker away; one that appears later is meant."""

REFUSAL = 60.0
"""Seconds. A mount that is being recovered may refuse everybody for a moment."""


@dataclass(frozen=True, slots=True)
class WaitOutcome:
    """The end of the wait."""

    code: ExitCode
    reason: str
    message: str


@dataclass
class Patience:
    """What was seen so far. Times are seconds since the start."""

    config: WaitConfig
    _first: View | None = None
    _since: float = field(default=0.0)
    _last: View | None = None

    def after(self, view: View, now: float) -> WaitOutcome | None:
        """The outcome that follows from one more look; None is to wait on."""
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
        """The outcome of the time alone, also while a look has not come back."""
        if now < self.config.timeout:
            return None
        text = self._last.text if self._last else "a look at its mount does not return"
        sentence = self._sentence(f"is not {self.config.until} after {self.config.timeout} s: {text}")
        return WaitOutcome(ExitCode.SOFT_DEADLINE, "Timeout", sentence)

    def _sentence(self, rest: str) -> str:
        return f"Dataset {self.config.dataset} {rest}. Its SampleSet's status says more"
