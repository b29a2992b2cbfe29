"""Jobs: edits that start another run, and edits that change the present run."""

from typing import Any

import pytest

from stowplan.library.builders import job
from stowplan.library.builders.job import Task
from tests.unit.specs import ORIGIN

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "sync", "image": "sync:1"}]}}


def spec(**fields: Any) -> dict[str, Any]:
    return {**job.job_spec(TEMPLATE, container="sync", deadline_seconds=None, suspend=False), **fields}


def task(stem: str = "data-sync", namespace: str = "ml", **fields: Any) -> Task:
    return Task(stem, "sync", namespace, spec(**fields))


def name(*tasks: Task, run: str = "") -> str:
    return job.jobs(tasks, ORIGIN, run)[0].name


def test_job() -> None:
    (made,) = job.jobs([task()], ORIGIN, "")
    assert (made.stem, made.run) == ("data-sync", True)
    assert made.name == f"data-sync-{job.group_hash([task()], '')}"
    assert made.body["spec"] == {
        "backoffLimit": 6,
        "completions": 1,
        "parallelism": 1,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onExitCodes": {"containerName": "sync", "operator": "In", "values": [2, 3, 4, 5]},
                },
                {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]},
            ]
        },
        "template": TEMPLATE,
    }


def test_job_with_a_deadline_that_is_suspended() -> None:
    made = job.job_spec(TEMPLATE, container="sync", deadline_seconds=60, suspend=True)
    assert (made["activeDeadlineSeconds"], made["suspend"]) == (60, True)


@pytest.mark.parametrize(
    "field", ["activeDeadlineSeconds", "backoffLimit", "maxFailedIndexes", "parallelism", "suspend"]
)
def test_an_edit_that_kubernetes_allows_keeps_the_name(field: str) -> None:
    changed: dict[str, Any] = {field: 3}
    assert name(task(**changed)) == name(task())


@pytest.mark.parametrize("field", ["template", "podFailurePolicy", "completionMode", "completions", "selector"])
def test_an_edit_that_kubernetes_refuses_changes_the_name(field: str) -> None:
    changed: dict[str, Any] = {field: {}}
    assert name(task(**changed)) != name(task())


def test_the_run_marker_changes_the_name() -> None:
    assert name(task(), run="2") != name(task(), run="1") != name(task())


def test_all_jobs_of_a_spec_share_one_hash() -> None:
    first, second = job.jobs([task(), task("data-warmup-0")], ORIGIN, "")
    assert first.name.removeprefix("data-sync-") == second.name.removeprefix("data-warmup-0-")


def test_an_edit_of_one_job_renames_all() -> None:
    before = job.jobs([task(), task("data-warmup-0")], ORIGIN, "")
    after = job.jobs([task(), task("data-warmup-0", template={})], ORIGIN, "")
    assert all(old.name != new.name for old, new in zip(before, after, strict=True))


def test_another_namespace_changes_the_name() -> None:
    assert name(task(namespace="storage")) != name(task())


def test_a_long_name_keeps_its_hash() -> None:
    made = name(task("a" * 100))
    assert len(made) == 63
    assert made.endswith(job.group_hash([task("a" * 100)], ""))


def test_cron_job() -> None:
    made = job.cron_job(task(), ORIGIN, schedule="0 3 * * *", time_zone="Europe/Berlin")
    assert (made.name, made.run) == ("data-sync", False)
    assert made.body["spec"] == {
        "concurrencyPolicy": "Forbid",
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": spec()},
        "schedule": "0 3 * * *",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 3,
        "timeZone": "Europe/Berlin",
    }


def test_a_suspended_cron_job_has_jobs_that_are_not() -> None:
    made = job.cron_job(task(suspend=True), ORIGIN, schedule="0 3 * * *", time_zone=None).body["spec"]
    assert made["suspend"] is True
    assert "suspend" not in made["jobTemplate"]["spec"]
    assert "timeZone" not in made


def test_a_cron_job_leaves_space_for_the_names_of_its_jobs() -> None:
    assert len(job.cron_job(task("a" * 60), ORIGIN, schedule="@daily", time_zone=None).name) == 52
