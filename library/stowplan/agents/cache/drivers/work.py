"""Values that every task needs, and the report of the task's state."""

from dataclasses import dataclass, field
from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.timestamp import now

WAITING = "waiting"


@dataclass
class TaskOutcome(AttemptOutcome):
    """Current result and progress of an attempt at one task on one partition."""

    task: str = ""
    """`sync`, `warmup`, `rmr` or `clear`."""
    partition: int = 0
    began: str = field(default_factory=now)
    """Start of the attempt (RFC 3339)."""
    remark: str = ""
    """Reason of a success that is not all that was asked for, one word in CamelCase; empty for any other success."""
    _waits: bool = False

    def waits(self, message: str) -> None:
        """Record that the task waits for other programs. `message` says for what."""
        self._waits, self.message = True, message

    def works(self) -> None:
        """Record that the task no longer waits."""
        self._waits, self.message = False, "Under way"

    @property
    def state(self) -> str:
        """Return `WAITING` while the task waits for other programs, otherwise `result`."""
        return WAITING if self._waits and self.result == RUNNING else self.result

    @property
    def fates(self) -> dict[str, Any]:
        """Return what a sync did with the files, as fields of the entry; empty for other tasks, which copy none."""
        return super().fates if self.task == "sync" else {}

    def entry(self) -> dict[str, Any]:
        """Return this attempt's entry in the list `status.attempts`, without the time of the report."""
        fields = super().entry()
        del fields["result"]
        own = {"task": self.task, "partition": self.partition, "state": self.state, "startedAt": self.began}
        reason = {FAILED: self.reason, SUCCEEDED: self.remark}.get(self.result)
        return own | fields | ({"reason": reason} if reason else {})


@dataclass(frozen=True)
class TaskWork:
    """Values that one attempt at a task needs."""

    outcome: TaskOutcome
    stop: Stop
    log: Log
    redact: Redactor

    @property
    def run(self) -> str | None:
        return self.outcome.run
