"""The output of `stowplan status` for one spec."""

from datetime import UTC, datetime
from typing import Any

import pytest

from stowplan.compiler.live.spec_status import spec_status
from stowplan.schema.meta import SpecId
from tests.unit.agents.reporter.given import conditions, job, report, resource

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "progress"),
    [
        ({}, ""),
        ({"worker": {}}, ""),
        ({"worker": {"running": 2, "failed": 0}}, "worker: 2 running"),
        ({"worker": {"succeeded": 2, "running": 0}}, "worker: 2 succeeded"),
        (
            {"ps": {"running": 1}, "worker": {"succeeded": 1, "running": 2, "pending": 1, "failed": 3}},
            "ps: 1 running; worker: 1 pending, 2 running, 1 succeeded, 3 failed",
        ),
    ],
)
def test_progress_of_a_job_with_roles(status: dict[str, Any], progress: str) -> None:
    body = {"metadata": {"name": "a", "namespace": "ml"}, "status": status}
    assert spec_status(SpecId("PaddleJob", "ml", "a"), body, NOW).progress == progress


def test_progress_of_a_sync_leaves_out_the_warmup_after_it() -> None:
    attempts = [{"task": "sync", "files": 1000, "totalFiles": 2000}, {"task": "warmup", "files": 7, "totalFiles": 9}]
    body = {"metadata": {"name": "a", "namespace": "ml"}, "spec": {"type": "sync"}, "status": {"attempts": attempts}}
    assert spec_status(SpecId("SampleJob", "ml", "a"), body, NOW).progress == "1,000 of 2,000 files"


@pytest.mark.parametrize(
    ("status", "progress"),
    [
        ({}, ""),
        ({"nodesReady": "2/4", "restarts": 0}, "2/4 nodes ready"),
        ({"nodesReady": "4/4", "restarts": 3}, "4/4 nodes ready, 3 restarts"),
    ],
)
def test_progress_of_a_training(status: dict[str, Any], progress: str) -> None:
    body = {"metadata": {}, "status": {"phase": "Running", **status}}
    assert spec_status(SpecId("Training", "ml", "a"), body, NOW).progress == progress


@pytest.mark.parametrize(
    ("kind", "role", "spec"),
    [
        ("Training", "node", {"numNodes": 2}),
        ("PaddleJob", "worker", {"worker": {"replicas": 2}}),
        ("TrainingJob", "trainer", {"trainer": {"min-instance": 2}}),
        ("MxJob", "worker", {"jobMode": "dist"}),
    ],
)
def test_closed_job_names_what_it_waits_for(kind: str, role: str, spec: dict[str, Any]) -> None:
    work = job(kind, role, 2, suspend=True, status={"conditions": conditions(3, "Suspended")})
    work["metadata"]["annotations"] = {"stowplan.dev/gate": "Dataset flowers, SampleJob clean"}
    body = resource(kind, spec)
    found = spec_status(SpecId(kind, "ml", "x"), {**body, "status": report(kind, body, work)}, NOW)
    assert (found.health, found.well) == ("Suspended", True)
    assert "Waiting for Dataset flowers, SampleJob clean" in found.reason
