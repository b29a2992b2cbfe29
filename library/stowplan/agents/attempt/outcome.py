"""State of an attempt, in the form of the custom resource's status."""

from dataclasses import dataclass, field
from typing import Any

from stowplan.agents.attempt.progress import Progress, Snapshot

RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"

LONGEST_MESSAGE = 32768
"""Maximum length of a condition's message in characters; Kubernetes refuses longer ones."""


@dataclass
class AttemptOutcome:
    """Current state of the attempt."""

    run: str | None
    pod: str | None
    progress: Progress = field(default_factory=Progress)
    result: str = RUNNING
    exit_code: int | None = None
    reason: str = "Running"
    message: str = "Under way"
    revision: str | None = None
    """Revision of the source, such as a commit, as soon as it is known."""

    def end(self, code: int, reason: str, message: str) -> None:
        """Record the end of the attempt."""
        self.message, self.reason, self.exit_code = message, reason, code
        self.result = FAILED if code else SUCCEEDED

    def entry(self) -> dict[str, Any]:
        """Return the status fields of the attempt, without times."""
        counts = self.progress.snapshot()
        fields = {
            "run": self.run,
            "pod": self.pod,
            "result": self.result,
            "exitCode": self.exit_code,
            "message": self.message,
            "bytes": counts.bytes_done,
            "totalBytes": counts.bytes_total,
            "files": counts.files_done,
            "totalFiles": counts.files_total,
        }
        return {key: value for key, value in fields.items() if value is not None}


def condition(kind: str, reason: str, message: str, *, holds: bool) -> dict[str, Any]:
    """Return a condition without its times; the report adds them."""
    found = {"type": kind, "status": "True" if holds else "False", "reason": reason}
    return found | ({"message": message[:LONGEST_MESSAGE]} if message else {})


def percent(counts: Snapshot, *, done: bool) -> str:
    """Return the progress by bytes, or by files if the bytes are unknown. It is "100%" only at the end."""
    if done:
        return "100%"
    part, whole = (
        (counts.bytes_done, counts.bytes_total) if counts.bytes_total else (counts.files_done, counts.files_total)
    )
    return f"{min(99, max(0, part * 100 // whole)) if whole else 0}%"
