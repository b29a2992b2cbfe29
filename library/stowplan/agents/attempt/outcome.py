"""Result and progress of an attempt, in the form of the custom resource's status."""

from dataclasses import dataclass, field
from typing import Any

from stowplan.agents.attempt.progress import Progress
from stowplan.agents.runtime.dataset_phase import Course, of_claim

RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"

_COURSES: dict[str, Course] = {RUNNING: "under way", SUCCEEDED: "succeeded", FAILED: "failed"}

LONGEST_MESSAGE = 32768
"""Maximum length of a condition's message in characters; Kubernetes refuses longer ones."""


@dataclass
class AttemptOutcome:
    """Current result and progress of one attempt."""

    run: str | None
    """Name of the run; None outside a cluster."""
    pod: str | None
    """Name of the attempt's pod; None outside a cluster."""
    progress: Progress = field(default_factory=Progress)
    result: str = RUNNING
    """`RUNNING`, `SUCCEEDED` or `FAILED`."""
    exit_code: int | None = None
    reason: str = "Running"
    message: str = "Under way"
    trouble: tuple[str, str] | None = None
    """Reason and message of what keeps the attempt from going on, and may pass; None if nothing does."""
    revision: str | None = None
    """Revision of the source, such as a commit; None while it is unknown, or if the source has no revisions."""

    @property
    def present(self) -> tuple[str, str]:
        """Return the reason and the message for the status: of a trouble before the end, else of the result."""
        return self.trouble if self.trouble and self.result == RUNNING else (self.reason, self.message)

    def end(self, code: int, reason: str, message: str) -> None:
        """Record the end of the attempt: `code` is its exit code, and any code but 0 is a failure."""
        self.message, self.reason, self.exit_code = message, reason, code
        self.result = FAILED if code else SUCCEEDED

    def entry(self) -> dict[str, Any]:
        """Return the fields that describe the attempt in the status, without times and without unknown values."""
        counts = self.progress.snapshot()
        fields = {
            "run": self.run,
            "pod": self.pod,
            "result": self.result,
            "exitCode": self.exit_code,
            "message": self.present[1],
            "bytes": counts["bytesDone"],
            "totalBytes": counts["bytesTotal"],
            "files": counts["filesDone"],
            "totalFiles": counts["filesTotal"],
            **self.fates,
        }
        return {key: value for key, value in fields.items() if value is not None}

    @property
    def fates(self) -> dict[str, Any]:
        """Return what the attempt did with the files, as fields of its entry in the status (`Progress.fates`)."""
        return self.progress.fates()


def condition(kind: str, reason: str, message: str, *, holds: bool) -> dict[str, Any]:
    """Return a status condition of type `kind` without its times; the `StatusReporter` adds them.

    `holds` is the condition's status: True or False.
    """
    found = {"type": kind, "status": "True" if holds else "False", "reason": reason}
    return found | ({"message": message[:LONGEST_MESSAGE]} if message else {})


def filled(outcome: AttemptOutcome) -> dict[str, Any]:
    """Return `phase` and `conditions` of a dataset without caches, which its first sync alone decides.

    `outcome` is that of the sync. The phase `SyncFailed` may be temporary: the attempt does not know whether the Job
    starts another one. The conditions lack their times; the `StatusReporter` adds them.
    """
    done, (reason, message) = outcome.result == SUCCEEDED, outcome.present
    conditions = [condition(name, reason, message, holds=done) for name in ("Synced", "Ready")]
    return {"phase": of_claim(_COURSES[outcome.result]), "conditions": conditions}


def percent(progress: Progress, *, done: bool) -> str:
    """Return the finished share, such as "42%": of the bytes, or of the files if the number of bytes is not known.

    It is "100%" only if `done`; before the end it is at most "99%".
    """
    if done:
        return "100%"
    part, whole = progress.bytes_done, progress.bytes_total
    if not whole:
        part, whole = progress.files_done, progress.files_total
    return f"{min(99, max(0, part * 100 // whole)) if whole else 0}%"
