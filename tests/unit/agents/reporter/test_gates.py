"""What is reported of a run that is closed until its datasets are ready."""

from dataclasses import replace
from typing import Any

import pytest

from stowplan.agents.reporter.rules import registry
from tests.unit.agents.reporter.given import (
    RUN,
    Manifest,
    condition,
    conditions,
    failed,
    job,
    job_set,
    message,
    observed,
    pending,
    pod,
    report,
    resource,
)

KIND = "Training"
HELD = {"conditions": conditions(3, "Suspended")}
CLOSED = {"stowplan.dev/gate": "Dataset flowers"}
OPENED = {**CLOSED, "stowplan.dev/opened": "2026-01-01T00:00:00Z"}


def annotated(work: Manifest, notes: dict[str, str]) -> Manifest:
    return {**work, "metadata": {**work["metadata"], "annotations": notes}}


def nodes(notes: dict[str, str], *, suspend: bool = True) -> Manifest:
    return annotated(job(KIND, "node", 2, suspend=suspend, status=HELD if suspend else None), notes)


def gate(status: Manifest | None = None) -> Manifest:
    made = job(KIND, "gate", run="ggggggga", status=status)
    made["metadata"]["labels"]["stowplan.dev/run-hash"] = RUN
    return made


def judge(*objects: Manifest, **spec: Any) -> Any:
    return report(KIND, resource(KIND, {"numNodes": 2, **spec}), *objects)


@pytest.mark.parametrize(
    "work", [nodes(CLOSED), annotated(job_set(KIND, HELD, node=2), CLOSED)], ids=["core", "jobset"]
)
def test_closed_run_waits_for_its_datasets(work: Manifest) -> None:
    status = judge(work, gate())
    assert (status["phase"], status["run"], status["nodesReady"]) == ("Waiting", RUN, "0/2")
    assert status["message"] == "Waiting for Dataset flowers"
    assert condition(status, "Suspended")[:2] == ("True", "DatasetNotReady")


def test_dataset_that_failed_is_named() -> None:
    seen = observed(KIND, resource(KIND, {"numNodes": 2}), nodes(CLOSED), gate())
    status = registry.status(replace(seen, failures=("Dataset flowers has failed: no bucket",)))
    assert status is not None
    assert (status["phase"], status["message"]) == (
        "Waiting",
        "Waiting for Dataset flowers. Dataset flowers has failed: no bucket",
    )


def test_gate_that_does_not_start_says_why() -> None:
    opener = gate()
    state = pending(waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    assert "Its gate: " in judge(nodes(CLOSED), opener, pod(opener, **state))["message"]


def test_wait_that_took_too_long_fails_the_job() -> None:
    status = judge(nodes(CLOSED), gate(failed(9, "DeadlineExceeded")))
    assert (status["phase"], message(status, "Failed")) == ("Failed", "Dataset flowers was not ready in time")


def test_opened_run_is_like_any_other() -> None:
    work = nodes(OPENED, suspend=False)
    status = judge(work, gate(), pod(work, 0), pod(work, 1))
    assert (status["phase"], status["nodesReady"]) == ("Running", "2/2")


def test_opened_run_that_its_user_suspends() -> None:
    assert judge(nodes(OPENED), gate(), suspend=True)["phase"] == "Suspended"


def test_closed_paddle_job_says_what_it_waits_for() -> None:
    notes = {"stowplan.dev/gate": "SampleSet flowers"}
    work = annotated(job("PaddleJob", "worker", 2, suspend=True, status=HELD), notes)
    status = report("PaddleJob", resource("PaddleJob", {"worker": {"replicas": 2}}), work)
    assert (status["phase"], message(status, "Suspended")) == ("Pending", "Waiting for SampleSet flowers")


@pytest.mark.parametrize(
    ("kind", "role", "spec"),
    [
        ("Training", "node", {"numNodes": 2}),
        ("PaddleJob", "worker", {"worker": {"replicas": 2}}),
        ("TrainingJob", "trainer", {"trainer": {"min-instance": 2}}),
        ("MxJob", "worker", {"jobMode": "dist"}),
    ],
)
def test_job_that_runs_after_others_says_what_it_waits_for(kind: str, role: str, spec: Manifest) -> None:
    notes = {"stowplan.dev/gate": "Dataset flowers, SampleJob clean"}
    work = annotated(job(kind, role, 2, suspend=True, status=HELD), notes)
    seen = replace(observed(kind, resource(kind, spec), work), failures=("SampleJob clean has failed: no such path",))
    status = registry.status(seen)
    assert status is not None
    text = "Waiting for Dataset flowers, SampleJob clean. SampleJob clean has failed: no such path"
    assert (condition(status, "Suspended")[1], message(status, "Suspended")) == ("SpecNotDone", text)
