"""One history of a dataset, reported to each agent that derives its phase: all derive the same phase."""

from typing import Any

import pytest

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, AttemptOutcome
from stowplan.agents.cache.runtime.phase import Situation, TaskState
from stowplan.agents.transfer.status import DatasetStatus
from stowplan.schema.agents.exit_codes import ExitCode
from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    failed,
    job,
    pod,
    report,
    resource,
    runtime_pod,
    stateful_set,
)

SPEC: dict[str, Any] = {"partitions": 2, "source": {"uri": "s3://a/"}}
CLAIM: dict[str, Any] = {"source": {"uri": "s3://a/"}, "csi": {"driver": "pvc"}}


def sync(**fields: Any) -> Manifest:
    return job("SampleSet", "sync", **fields)


def seen(ready: int, *, mounted: bool, measured: bool, sync: TaskState) -> Situation:
    return Situation(2, ready, mounted, measured, sync)


DONE, LOST = sync(status=complete(9)), sync(status=failed(9))


@pytest.mark.parametrize(
    ("objects", "given_out", "phase"),
    [
        ([stateful_set(2, 0), runtime_pod()], seen(0, mounted=False, measured=False, sync=TaskState()), "Bound"),
        ([stateful_set(2, 1), sync(), runtime_pod()], seen(1, mounted=True, measured=False, sync=TaskState()), "Mount"),
        (
            [stateful_set(2, 1), sync(), pod(sync())],
            seen(1, mounted=True, measured=True, sync=TaskState("under way")),
            "Syncing",
        ),
        ([stateful_set(2, 2), LOST], seen(2, mounted=True, measured=True, sync=TaskState("failed")), "SyncFailed"),
        ([stateful_set(2, 1), DONE], seen(1, mounted=True, measured=True, sync=TaskState("succeeded")), "PartialReady"),
        ([stateful_set(2, 2), DONE], seen(2, mounted=True, measured=True, sync=TaskState("succeeded")), "Ready"),
    ],
)
def test_caches(objects: list[Manifest], given_out: Situation, phase: str) -> None:
    status: Any = report("SampleSet", resource("SampleSet", SPEC), *objects)
    assert (status["phase"], given_out.phase) == (phase, phase)


@pytest.mark.parametrize(
    ("objects", "result", "phase"),
    [([sync(), pod(sync())], RUNNING, "Syncing"), ([LOST], FAILED, "SyncFailed"), ([DONE], SUCCEEDED, "Ready")],
)
def test_claim(objects: list[Manifest], result: str, phase: str) -> None:
    status: Any = report("SampleSet", resource("SampleSet", CLAIM), *objects)
    outcome = AttemptOutcome("run", "pod")
    if result != RUNNING:
        outcome.end(ExitCode.DONE if result == SUCCEEDED else ExitCode.AUTH, "Because", "because")
    assert (status["phase"], DatasetStatus("SampleSet", "sync", outcome, phase=True).fields()["phase"]) == (
        phase,
        phase,
    )
