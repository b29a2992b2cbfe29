"""The status of DatasetTasks."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    condition,
    failed,
    job,
    pod,
    report,
    resource,
    running,
)

COPY = {"datasetRef": {"name": "corpus"}, "copy": {"to": {"claim": {"name": "archive"}}}}


def task(*objects: Manifest, partitions: int | None = None, status: Manifest | None = None, **spec: Any) -> Any:
    given = {"datasetRef": {"name": "corpus"}, **spec} if spec else COPY
    return report("DatasetTask", resource("DatasetTask", given, status), *objects, partitions=partitions)


def copy(**fields: Any) -> Manifest:
    return job("DatasetTask", "copy", **fields)


@pytest.mark.parametrize(
    ("objects", "phase"),
    [
        ([], "Pending"),
        ([copy()], "Pending"),
        ([copy(), pod(copy(), **running(3))], "Running"),
        ([copy(status=complete(5))], "Succeeded"),
        ([copy(status=failed(5))], "Failed"),
    ],
)
def test_phase_of_a_copy(objects: list[Manifest], phase: str) -> None:
    status = task(*objects)
    assert status["phase"] == phase
    assert status["partitions"]["total"] == 1


@pytest.mark.parametrize(("field", "word"), [("warmup", "warmup"), ("evict", "clear")])
def test_a_task_of_each_cache_node_is_done_with_the_last_one(field: str, word: str) -> None:
    """Agents call an eviction `clear`."""
    status = task(job("DatasetTask", word, status=complete(5)), partitions=2, **{field: {}})
    assert status["phase"] == "Pending"
    assert status["partitions"] == {"total": 2, "running": 0, "succeeded": 1, "failed": 0}
    assert task(job("DatasetTask", word, status=complete(5)), partitions=1, **{field: {}})["phase"] == "Succeeded"


def test_a_removal_names_its_job() -> None:
    removal = job("DatasetTask", "rmr", status=complete(5))
    status = task(removal, remove={"paths": ["old"]})
    assert (status["phase"], status["run"]) == ("Succeeded", removal["metadata"]["name"])
    assert "jobName" not in status


def test_a_suspended_task_says_so() -> None:
    held = copy()
    held["spec"]["suspend"] = True
    status = task(held)
    assert (status["phase"], condition(status, "Suspended")[0]) == ("Suspended", "True")


def test_a_suspended_schedule_says_so_before_its_first_run() -> None:
    assert task(evict={}, schedule="0 1 * * *", suspend=True)["phase"] == "Suspended"
    assert "phase" not in task(evict={}, schedule="0 1 * * *")


def test_the_warmup_after_a_sync_is_a_condition() -> None:
    done, warm = job("DatasetTask", "sync", status=complete(5)), job("DatasetTask", "warmup", run="zzzzzzzz")
    status = task(done, warm, sync={})
    assert status["phase"] == "Succeeded"
    assert condition(status, "Warmed")[0] == "False"
