"""The phase of a SampleJob, derived from the reports of all its partitions."""

from typing import Any, Literal

import pytest

from stowplan.agents.cache.drivers.work import TaskOutcome
from stowplan.agents.cache.status import status
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.cache_config import SyncConfig, WarmupConfig


def config(partitions: int = 3) -> WarmupConfig:
    return WarmupConfig(
        target=StatusTarget(kind="SampleJob", namespace="ml", name="job"),
        reportPhase=True,
        dataset="flowers",
        mountPath="/mnt/flowers",
        paths=[],
        strategy="sequence",
        partitions=partitions,
        threshold=95,
    )


def outcome(partition: int, code: int | None) -> TaskOutcome:
    found = TaskOutcome(f"job-{partition}-abc", "pod", task="warmup", partition=partition)
    if code is not None:
        found.end(code, "Succeeded" if not code else "BelowThreshold", "reported")
    return found


def other(partition: int, state: str, run: str = "abc") -> dict[str, Any]:
    return {"task": "warmup", "partition": partition, "run": f"job-{partition}-{run}", "state": state, "reason": "R"}


@pytest.mark.parametrize(
    ("code", "others", "phase", "counts"),
    [
        (None, [], "Running", (1, 0, 0)),
        (0, [], "Running", (0, 1, 0)),
        (0, [other(1, "running"), other(2, "succeeded")], "Running", (1, 2, 0)),
        (0, [other(1, "waiting"), other(2, "failed")], "Failed", (1, 1, 1)),
        (0, [other(1, "succeeded"), other(2, "succeeded")], "Succeeded", (0, 3, 0)),
        (0, [other(1, "succeeded", "before"), other(2, "succeeded")], "Running", (0, 2, 0)),
        (0, [other(1, "succeeded"), {**other(2, "failed"), "task": "sync"}], "Running", (0, 2, 0)),
        (10, [other(1, "succeeded"), other(2, "succeeded")], "Failed", (0, 2, 1)),
        (0, [other(0, "failed"), other(1, "succeeded"), other(2, "succeeded")], "Succeeded", (0, 3, 0)),
    ],
)
def test_phase(code: int | None, others: list[dict[str, Any]], phase: str, counts: tuple[int, int, int]) -> None:
    reported = status(config(), outcome(0, code), {"status": {"attempts": others}})
    assert reported["phase"] == phase
    found = reported["counts"]
    assert (found["total"], found["running"], found["succeeded"], found["failed"]) == (3, *counts)
    assert [each["partition"] for each in reported["attempts"]] == [0]
    assert reported["jobName"] == "job-0-abc"


@pytest.mark.parametrize(
    ("kind", "reports", "code", "phase"),
    [
        ("Dataset", True, None, "Syncing"),
        ("Dataset", True, 0, "Ready"),
        ("Dataset", True, 3, "SyncFailed"),
        ("Dataset", False, 0, None),
        ("SampleSet", True, 0, None),
    ],
)
def test_the_phase_of_a_dataset_that_no_node_caches(
    kind: Literal["Dataset", "SampleSet"], code: int | None, phase: str | None, *, reports: bool
) -> None:
    target = StatusTarget(kind=kind, namespace="ml", name="data")
    given = SyncConfig(
        target=target,
        reportPhase=reports,
        dataset="data",
        source="oss://b/a/",
        destination="/",
        flags={},
        completes=True,
    )
    sync = TaskOutcome("data-sync-abc", "pod", task="sync")
    if code is not None:
        sync.end(code, "AccessDenied" if code else "Succeeded", "reported")
    reported = status(given, sync, None)
    assert reported.get("phase") == phase
    held = {each["type"] for each in reported.get("conditions", ()) if each["status"] == "True"}
    assert held == ({"Synced", "Ready"} if phase == "Ready" else set())


def test_a_waiting_attempt_is_reported() -> None:
    waiting = outcome(1, None)
    waiting.waits("For the sync flowers-sync-abc")
    (entry,) = status(config(), waiting, None)["attempts"]
    assert (entry["state"], entry["message"]) == ("waiting", "For the sync flowers-sync-abc")
    waiting.works()
    assert waiting.state == "running"
    waiting.waits("again")
    waiting.end(143, "Terminated", "ended")
    assert waiting.entry()["state"] == "failed"


def test_a_warmup_of_a_cache_that_is_too_small_succeeds_and_says_so() -> None:
    small = outcome(0, 0)
    small.remark = "CacheTooSmall"
    told = status(config(2), small, {"status": {"attempts": [other(1, "succeeded")]}})
    assert (told["phase"], told["attempts"][0]["reason"]) == ("Succeeded", "CacheTooSmall")
    found = {each["type"]: each for each in told["conditions"]}
    assert (found["CacheTooSmall"]["status"], found["CacheTooSmall"]["message"]) == ("True", "partition 0: reported")
    partitions = [{"ordinal": 1, "budgetBytes": 2}, {"ordinal": 0, "budgetBytes": 1}]
    assert status(config(2), small, {"status": {"partitions": partitions}})["attempts"][0]["budgetBytes"] == 1
    told = status(config(1), outcome(0, 0), {"status": {}})
    assert {each["type"]: each["status"] for each in told["conditions"]}["CacheTooSmall"] == "False"


@pytest.mark.parametrize(("kind", "revision"), [("SampleSet", "abc"), ("Dataset", "abc"), ("SampleJob", None)])
def test_a_dataset_shows_the_revision_that_its_sync_has_brought(kind: str, revision: str | None) -> None:
    target = StatusTarget.model_validate({"kind": kind, "namespace": "ml", "name": "flowers"})
    sync = SyncConfig(
        target=target,
        reportPhase=False,
        dataset="flowers",
        source="s3://flowers/",
        destination="/",
        flags={},
        completes=True,
    )
    found = TaskOutcome("flowers-sync-abc", "pod", task="sync")
    found.revision = "abc"
    assert "revision" not in status(sync, found, None)
    found.end(0, "Succeeded", "reported")
    assert status(sync, found, None).get("revision") == revision
