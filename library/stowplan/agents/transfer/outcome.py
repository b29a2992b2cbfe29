"""The state of an attempt in the words of the custom resource's status."""

from dataclasses import dataclass, field
from typing import Any

from stowplan.agents.transfer.progress import Progress, Snapshot

RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"


@dataclass
class Outcome:
    """What is known of the attempt by now."""

    run: str | None
    pod: str | None
    report_phase: bool
    """Whether no reporter writes phase and conditions."""
    progress: Progress = field(default_factory=Progress)
    result: str = RUNNING
    exit_code: int | None = None
    reason: str = "Running"
    message: str = "The transfer is under way"

    def end(self, code: int, reason: str, message: str) -> None:
        """The attempt has come to its end."""
        self.message, self.reason, self.exit_code = message, reason, code
        self.result = FAILED if code else SUCCEEDED

    def status(self) -> dict[str, Any]:
        """Fields of the status, without times."""
        counts = self.progress.snapshot()
        attempt = {
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
        status: dict[str, Any] = {
            "progress": percent(counts, done=self.result == SUCCEEDED),
            "attempt": {key: value for key, value in attempt.items() if value is not None},
        }
        return status | (self._phase() if self.report_phase else {})

    def _phase(self) -> dict[str, Any]:
        """Failed only as far as this attempt goes: whether the Job tries again is not known here."""
        phases = {RUNNING: "Running", SUCCEEDED: "Succeeded", FAILED: "Failed"}
        held = {"Initialized": True, "Complete": self.result == SUCCEEDED, "Failed": self.result == FAILED}
        conditions = [
            {
                "type": name,
                "status": "True" if holds else "False",
                "reason": "Started" if name == "Initialized" else self.reason,
                "message": "The agent runs" if name == "Initialized" else self.message,
            }
            for name, holds in held.items()
        ]
        return {"phase": phases[self.result], "conditions": conditions}


def percent(counts: Snapshot, *, done: bool) -> str:
    """How much is done, by bytes, or by files where there are none; 100% only at the end."""
    if done:
        return "100%"
    part, whole = (
        (counts.bytes_done, counts.bytes_total) if counts.bytes_total else (counts.files_done, counts.files_total)
    )
    return f"{min(99, max(0, part * 100 // whole)) if whole else 0}%"
