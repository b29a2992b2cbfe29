"""Phase and conditions of a SampleSet, derived from the reports of its agents.

If a reporter runs in the cluster, it derives the same phases and conditions from the Kubernetes objects instead.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stowplan.agents.attempt.outcome import condition
from stowplan.agents.runtime.cache_fit import FITS
from stowplan.agents.runtime.dataset_phase import Course, Phase, of_caches
from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL
from stowplan.schema.agents.exit_codes import PERMANENT

SILENT_SECONDS = 420.0
"""Seconds without a report after which an unfinished task is considered failed.

A Job waits at most six minutes before a retry, so a longer silence means that there is no retry.
"""


@dataclass(frozen=True, slots=True)
class TaskState:
    """State of one task of the SampleSet, such as its sync."""

    course: Course = "unknown"
    reason: str = "NotStarted"
    """One word in CamelCase, used as the reason of a condition."""
    message: str = ""


def task(entry: dict[str, Any] | None, silent_seconds: float) -> TaskState:
    """Return the state of a task.

    `entry` is the task's entry in `status.attempts`; None if there is none. `silent_seconds` is the time since the last
    change of the entry.
    """
    if entry is None:
        return TaskState()
    state, message = entry.get("state"), str(entry.get("message") or "")
    reason = str(entry.get("reason") or state)
    if state == "succeeded":
        return TaskState("succeeded", reason, message)
    if state == "failed" and entry.get("exitCode") in PERMANENT:
        return TaskState("failed", reason, message)
    if silent_seconds > SILENT_SECONDS:
        return TaskState(
            "failed", "Silent", f"Nothing was heard of it for {silent_seconds / 60:.0f} min. {message}".strip()
        )
    return TaskState("under way", reason, message)


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything from which the phase of a SampleSet is derived."""

    partitions: int
    ready: int
    """Number of partitions whose cache pods report without a problem."""
    mounted: bool
    """True if the mount of this cache pod works."""
    measured: bool
    """True if any partition knows the size of the dataset."""
    sync: TaskState | None
    """State of the sync; None for a dataset without one."""
    warmups: tuple[TaskState, ...] = ()
    """State of each partition's warmup; empty if no warmup follows the sync."""
    too_small: str = ""
    """Message about caches that are too small for the dataset; empty if there are none."""

    @property
    def phase(self) -> Phase:
        course = self.sync.course if self.sync else "succeeded"
        whole = self.ready >= self.partitions
        # This pod has mounted the claim, so the claim is bound.
        return of_caches(course, alive=self.measured, whole=whole, mounted=self.mounted) or "Bound"


def conditions(seen: Situation, troubles: Iterable[str]) -> list[dict[str, Any]]:
    """Return the conditions of the SampleSet without their times.

    `troubles` are the problems of partitions, as sentences. A missing or failed warmup does not make a dataset unready.
    """
    found = [_ready(seen, "; ".join(troubles))]
    if seen.sync:
        found.append(_of_task("Synced", seen.sync))
    if seen.warmups:
        small = seen.too_small
        order: tuple[Course, ...] = ("failed", "unknown", "under way", "succeeded")
        found.append(_of_task("Warmed", min(seen.warmups, key=lambda each: order.index(each.course))))
        found.append(condition(CACHE_TOO_SMALL, CACHE_TOO_SMALL if small else FITS, small, holds=bool(small)))
    # Pods that run do not know why other pods cannot run.
    return [*found, condition("Stalled", "NotStalled", "", holds=False)]


def _ready(seen: Situation, troubles: str) -> dict[str, Any]:
    phase = seen.phase
    if phase == "Ready":
        return condition("Ready", phase, "All cache pods are ready", holds=True)
    if phase == "SyncFailed" and seen.sync:
        return condition("Ready", seen.sync.reason, seen.sync.message, holds=False)
    count = f"{seen.ready} of {seen.partitions} cache pods are ready"
    return condition("Ready", phase, f"{count}: {troubles}" if troubles else count, holds=False)


def _of_task(kind: str, each: TaskState) -> dict[str, Any]:
    return condition(kind, each.reason, each.message, holds=each.course == "succeeded")
