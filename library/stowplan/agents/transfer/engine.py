"""Interface of an engine, the part of a transfer that knows one kind of remote side."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.marker import STATE_DIRECTORY

PROTECTED = (STATE_DIRECTORY, "lost+found", ".snapshot")
"""Names at the top of a claim that hold no data of users."""


@dataclass(frozen=True)
class TransferWork:
    """Values that an attempt needs in addition to the settings."""

    outcome: AttemptOutcome
    stop: Stop
    log: Log
    redact: Redactor
    """Redactor for strings that are shortened before output: all output is redacted again at the end."""

    @property
    def progress(self) -> Progress:
        return self.outcome.progress


class Engine(Protocol):
    """Copies between a directory and one remote side. AttemptError or StoppedError ends it early."""

    def download(self, work: TransferWork, directory: Path, completion: Completion) -> str:
        """Brings the remote side to the claim; gives a sentence of what was done.

        `directory` holds the state of this transfer, in the claim. The engine calls `completion.begin()` before the
        first change of the destination. At the end all fetched data must be durable.
        """

    def upload(self, work: TransferWork, directory: Path | None) -> str:
        """Copy from the claim to the remote side. Without a directory no state is stored."""
