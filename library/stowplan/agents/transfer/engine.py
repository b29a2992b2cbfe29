"""What an engine is: the part of a transfer that knows one kind of remote side."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.outcome import Outcome
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.marker import STATE_DIRECTORY

PROTECTED = (STATE_DIRECTORY, "lost+found", ".snapshot")
"""Names at the top of a claim that are nobody's data."""


@dataclass(frozen=True)
class Work:
    """Everything that an attempt needs besides the settings."""

    outcome: Outcome
    stop: Stop
    log: Log
    redact: Redactor
    """For what is to be cut: all that is said is redacted once more in the end."""

    @property
    def progress(self) -> Progress:
        return self.outcome.progress


class Engine(Protocol):
    """Copies between a directory and one remote side. AttemptError or StoppedError ends it early."""

    def download(self, work: Work, directory: Path, completion: Completion) -> str:
        """Brings the remote side to the claim; gives a sentence of what was done.

        `directory` is where the state of this transfer is kept, in the claim. `completion.begin()` comes before the
        first change of the destination. What was fetched must be durable in the end.
        """

    def upload(self, work: Work, directory: Path | None) -> str:
        """Brings the claim to the remote side; without a directory nothing can be remembered."""
