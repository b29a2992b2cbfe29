"""Common values of every task, and the report of its state."""

from dataclasses import dataclass, field
from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.timestamp import now

WAITING = "waiting"


@dataclass
class TaskOutcome(AttemptOutcome):
    """Attempt of one task on one partition."""

    task: str = ""
    partition: int = 0
    began: str = field(default_factory=now)
    _waits: bool = False

    def waits(self, message: str) -> None:
        """Record that the work waits for other programs."""
        self._waits, self.message = True, message

    def works(self) -> None:
        """Record that the work goes on."""
        self._waits, self.message = False, "Under way"

    @property
    def state(self) -> str:
        return WAITING if self._waits and self.result == RUNNING else self.result

    def entry(self) -> dict[str, Any]:
        """Return the entry of `status.attempts`, without the time of the report."""
        fields = super().entry()
        del fields["result"]
        own = {"task": self.task, "partition": self.partition, "state": self.state, "startedAt": self.began}
        return own | fields | ({"reason": self.reason} if self.result == FAILED else {})


@dataclass(frozen=True)
class TaskWork:
    """One attempt at a task."""

    outcome: TaskOutcome
    stop: Stop
    log: Log
    redact: Redactor

    @property
    def run(self) -> str | None:
        return self.outcome.run
