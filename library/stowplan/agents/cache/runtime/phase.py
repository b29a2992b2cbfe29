"""The phase and conditions of a SampleSet from what its agents report.

Where a reporter runs, it says the same from what the API server knows: phases and conditions mean the same there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stowplan.agents.attempt.outcome import condition
from stowplan.agents.runtime.dataset_phase import Course, Phase, of_caches
from stowplan.schema.agents.exit_codes import PERMANENT

SILENT_SECONDS = 420.0
"""A Job waits six minutes at most before it tries again. Whoever is not done and says nothing for longer has ended."""


@dataclass(frozen=True, slots=True)
class Task:
    """How one task of the SampleSet stands."""

    course: Course = "unknown"
    reason: str = "NotStarted"
    message: str = ""


def task(entry: dict[str, Any] | None, silent_seconds: float) -> Task:
    """From an entry of `status.attempts`, and since when it has not changed."""
    if entry is None:
        return Task()
    state, message = entry.get("state"), str(entry.get("message") or "")
    reason = str(entry.get("reason") or state)
    if state == "succeeded":
        return Task("succeeded", reason, message)
    if state == "failed" and entry.get("exitCode") in PERMANENT:
        return Task("failed", reason, message)
    if silent_seconds > SILENT_SECONDS:
        return Task("failed", "Silent", f"Nothing was heard of it for {silent_seconds / 60:.0f} min. {message}".strip())
    return Task("under way", reason, message)


@dataclass(frozen=True, slots=True)
class Situation:
    """What the phase depends on."""

    partitions: int
    ready: int
    """Partitions whose agents report, and have nothing to complain of."""
    mounted: bool
    measured: bool
    """Whether any partition knows the size of the dataset."""
    sync: Task | None
    """None where no sync fills the dataset."""
    warmups: tuple[Task, ...] = ()
    """One for each partition, where warmups follow the sync."""

    @property
    def phase(self) -> Phase:
        course = self.sync.course if self.sync else "succeeded"
        whole = self.ready >= self.partitions
        # This very pod has the claim, so it is bound.
        return of_caches(course, alive=self.measured, whole=whole, mounted=self.mounted) or "Bound"


def conditions(seen: Situation, troubles: Iterable[str]) -> list[dict[str, Any]]:
    """Conditions without their times. A cold cache does not make a dataset unready."""
    found = [_ready(seen, "; ".join(troubles))]
    if seen.sync:
        found.append(_of_task("Synced", seen.sync))
    if seen.warmups:
        found.append(_of_task("Warmed", _hindmost(seen.warmups)))
    # What keeps pods from running at all is not known to those that run.
    return [*found, condition("Stalled", "NotStalled", "", holds=False)]


def _ready(seen: Situation, troubles: str) -> dict[str, Any]:
    phase = seen.phase
    if phase == "Ready":
        return condition("Ready", phase, "All cache pods are ready", holds=True)
    if phase == "SyncFailed" and seen.sync:
        return condition("Ready", seen.sync.reason, seen.sync.message, holds=False)
    count = f"{seen.ready} of {seen.partitions} cache pods are ready"
    return condition("Ready", phase, f"{count}: {troubles}" if troubles else count, holds=False)


def _hindmost(tasks: tuple[Task, ...]) -> Task:
    order: tuple[Course, ...] = ("failed", "unknown", "under way", "succeeded")
    return min(tasks, key=lambda each: order.index(each.course))


def _of_task(kind: str, each: Task) -> dict[str, Any]:
    return condition(kind, each.reason, each.message, holds=each.course == "succeeded")
