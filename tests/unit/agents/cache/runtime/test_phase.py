"""The phase of a SampleSet, derived from the reports of its agents."""

from typing import Any

import pytest

from stowplan.agents.cache.runtime.phase import SILENT_SECONDS, Situation, TaskState, conditions, task

DONE, RUNNING, FAILED = (
    TaskState("succeeded", "Succeeded"),
    TaskState("under way", "Running"),
    TaskState("failed", "AccessDenied", "no"),
)


def situation(**fields: Any) -> Situation:
    """Return a ready situation with these differences."""
    well: dict[str, Any] = {"partitions": 2, "ready": 2, "mounted": True, "measured": True, "sync": None}
    return Situation(**well | fields)


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({}, "Ready"),
        ({"ready": 1}, "PartialReady"),
        ({"ready": 0, "mounted": False}, "PartialReady"),
        ({"ready": 0, "measured": False}, "Mount"),
        ({"ready": 0, "measured": False, "mounted": False}, "Bound"),
        ({"sync": TaskState()}, "Mount"),
        ({"sync": TaskState(), "mounted": False, "ready": 0}, "Bound"),
        ({"sync": RUNNING}, "Syncing"),
        ({"sync": FAILED}, "SyncFailed"),
        ({"sync": DONE}, "Ready"),
        ({"sync": DONE, "ready": 1}, "PartialReady"),
        # The cache is cold there, and the dataset can be used.
        ({"sync": DONE, "warmups": (RUNNING, FAILED)}, "Ready"),
    ],
)
def test_phase(fields: dict[str, Any], phase: str) -> None:
    assert situation(**fields).phase == phase


@pytest.mark.parametrize(
    ("entry", "silent", "course"),
    [
        (None, 0, "unknown"),
        ({"state": "waiting"}, 0, "under way"),
        ({"state": "running"}, SILENT_SECONDS, "under way"),
        ({"state": "running"}, SILENT_SECONDS + 1, "failed"),
        ({"state": "succeeded"}, SILENT_SECONDS + 1, "succeeded"),
        ({"state": "failed", "exitCode": 3}, 0, "failed"),
        # The Job tries again.
        ({"state": "failed", "exitCode": 10}, 0, "under way"),
        ({"state": "failed", "exitCode": 10}, SILENT_SECONDS + 1, "failed"),
    ],
)
def test_task(entry: dict[str, Any] | None, silent: float, course: str) -> None:
    assert task(entry, silent).course == course


def held(seen: Situation, *troubles: str) -> dict[str, tuple[str, str, str]]:
    return {
        each["type"]: (each["status"], each["reason"], each.get("message", "")) for each in conditions(seen, troubles)
    }


def test_conditions_of_a_dataset_that_is_ready() -> None:
    ready = ("True", "Ready", "All cache pods are ready")
    assert held(situation()) == {"Ready": ready, "Stalled": ("False", "NotStalled", "")}


def test_conditions_name_what_is_wrong() -> None:
    found = held(situation(sync=DONE, ready=1, warmups=(RUNNING, FAILED)), "partition 1: MountHung: it hangs")
    assert found == {
        "Ready": ("False", "PartialReady", "1 of 2 cache pods are ready: partition 1: MountHung: it hangs"),
        "Synced": ("True", "Succeeded", ""),
        "Warmed": ("False", "AccessDenied", "no"),
        "CacheTooSmall": ("False", "Fits", ""),
        "Stalled": ("False", "NotStalled", ""),
    }


def test_conditions_of_a_sync_that_failed() -> None:
    found = held(situation(sync=FAILED))
    assert found["Ready"] == found["Synced"] == ("False", "AccessDenied", "no")
