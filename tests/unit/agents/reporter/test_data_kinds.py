"""The status of SampleSets, SampleJobs and DataCubes."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    condition,
    conditions,
    ended,
    failed,
    job,
    message,
    pending,
    pod,
    report,
    resource,
    runtime_pod,
    stateful_set,
    time,
)

SET = {"partitions": 2, "source": {"uri": "s3://a/b"}}


def dataset(*objects: Manifest, status: Manifest | None = None, **spec: Any) -> Any:
    return report("SampleSet", resource("SampleSet", {**SET, **spec}, status), *objects)


def sync(**fields: Any) -> Manifest:
    return job("SampleSet", "sync", **fields)


DONE = sync(status=complete(5))


@pytest.mark.parametrize(
    ("objects", "phase"),
    [
        ([], None),
        ([stateful_set(2, 0)], None),
        ([stateful_set(2, 0), runtime_pod(node="")], None),
        ([stateful_set(2, 0), runtime_pod()], "Bound"),
        ([stateful_set(2, 1), runtime_pod()], "Mount"),
        ([stateful_set(2, 1), runtime_pod(), sync(), pod(sync())], "Syncing"),
        ([stateful_set(2, 1), sync(), pod(sync(), **pending())], "Mount"),
        ([stateful_set(2, 2), sync(status=failed(5))], "SyncFailed"),
        ([stateful_set(2, 0), runtime_pod(), DONE], "Bound"),
        ([stateful_set(2, 1), DONE], "PartialReady"),
        ([stateful_set(2, 2), DONE], "Ready"),
        ([stateful_set(1, 1), DONE], "PartialReady"),
        ([stateful_set(2, 2, generation=2), DONE], None),
    ],
)
def test_dataset_phase(objects: list[Manifest], phase: str | None) -> None:
    status = dataset(*objects)
    assert status.get("phase") == phase
    assert condition(status, "Ready")[0] == str(phase == "Ready")


def test_dataset_without_sync() -> None:
    status = dataset(stateful_set(2, 2), noSync=True)
    assert status["phase"] == "Ready"
    assert "Synced" not in {each["type"] for each in status["conditions"]}
    assert status["runtimeStatus"] == {"specReplicas": 2, "readyReplicas": 2, "runtimeReady": "2/2"}


def test_dataset_that_lost_all_its_pods_is_partial() -> None:
    assert dataset(stateful_set(2, 0), DONE, status={"phase": "Ready"})["phase"] == "PartialReady"


def test_dataset_whose_mount_hangs_is_partial_although_its_pods_are_ready() -> None:
    entries = [{"ordinal": 0}, {"ordinal": 1, "message": "MountHung: it hangs"}]
    status = dataset(stateful_set(2, 2), DONE, status={"partitions": entries})
    assert (status["phase"], condition(status, "Ready")) == ("PartialReady", ("False", "MountHung"))
    assert message(status, "Ready") == "partition 1: MountHung: it hangs"


def test_dataset_does_not_hear_of_partitions_that_it_no_longer_has() -> None:
    entries = [{"ordinal": 2, "message": "Ended: The cache pod has ended"}]
    assert dataset(stateful_set(2, 2), DONE, status={"partitions": entries})["phase"] == "Ready"


def test_dataset_that_is_copied_does_not_speak_of_its_mounts() -> None:
    entries = [{"ordinal": 0, "message": "Starting: Nothing was measured yet"}]
    status = dataset(stateful_set(2, 1), runtime_pod(), status={"partitions": entries})
    assert (status["phase"], condition(status, "Ready")) == ("Mount", ("False", "Mount"))


def test_dataset_whose_source_does_not_answer_says_so() -> None:
    running = sync()
    entry = {"task": "sync", "partition": 0, "state": "running", "run": running["metadata"]["name"], "pod": "p"}
    entry |= {"reason": "RequestFailed", "message": "GET a: refused"}
    status = dataset(stateful_set(2, 2), running, status={"attempts": [entry]})
    assert (status["phase"], condition(status, "Synced")) == ("Syncing", ("False", "RequestFailed"))
    assert message(status, "Synced") == "pod p: GET a: refused"
    entry |= {"reason": "Running"}
    status = dataset(stateful_set(2, 2), running, status={"attempts": [entry]})
    assert condition(status, "Synced") == ("False", "Running")


def test_dataset_synced_in_another_namespace() -> None:
    entry = {"task": "sync", "partition": 0, "state": "running", "run": "x"}
    assert dataset(stateful_set(2, 2), status={"attempts": [entry]})["phase"] == "Syncing"
    entry |= {"state": "succeeded", "exitCode": 0}
    assert dataset(stateful_set(2, 2), status={"attempts": [entry]})["phase"] == "Ready"
    entry |= {"state": "failed", "exitCode": 3, "reason": "AccessDenied"}
    status = dataset(stateful_set(2, 2), status={"attempts": [entry]})
    assert (status["phase"], condition(status, "Synced")) == ("SyncFailed", ("False", "AccessDenied"))
    entry |= {"exitCode": 10}
    assert dataset(stateful_set(2, 2), status={"attempts": [entry]})["phase"] == "Syncing"


def test_dataset_whose_image_is_missing_stalls() -> None:
    waits = pending(waiting={"reason": "ImagePullBackOff", "message": "no x"})
    status = dataset(stateful_set(2, 0), runtime_pod(**waits))
    assert condition(status, "Stalled") == ("True", "ImagePullFailed")


def test_dataset_is_ready_before_it_is_warm() -> None:
    warmup = job("SampleSet", "warmup")
    status = dataset(stateful_set(2, 2), DONE, warmup)
    assert (status["phase"], condition(status, "Warmed")[0]) == ("Ready", "False")
    warm = job("SampleSet", "warmup", status=complete(9))
    assert condition(dataset(stateful_set(2, 2), DONE, warm), "Warmed")[0] == "True"


SMALL = {"task": "warmup", "state": "succeeded", "exitCode": 0, "reason": "CacheTooSmall"}


def test_dataset_larger_than_its_caches_is_warm_and_says_so() -> None:
    warm = job("SampleSet", "warmup", status=complete(9))
    entries = [
        {**SMALL, "partition": 0, "run": warm["metadata"]["name"], "message": "3 GiB of 4 GiB"},
        {**SMALL, "partition": 1, "run": "of-another-run", "message": "2 GiB of 4 GiB"},
    ]
    status = dataset(stateful_set(2, 2), DONE, warm, status={"attempts": entries})
    assert (status["phase"], condition(status, "Warmed")[0]) == ("Ready", "True")
    assert condition(status, "CacheTooSmall") == ("True", "CacheTooSmall")
    assert message(status, "CacheTooSmall") == "partition 0: 3 GiB of 4 GiB"
    assert condition(dataset(stateful_set(2, 2), DONE, warm), "CacheTooSmall") == ("False", "Fits")


@pytest.mark.parametrize(("budget", "holds"), [(3200, True), (4000, True), (4306, False)])
def test_a_cache_that_has_become_large_enough_is_no_longer_too_small(budget: int, *, holds: bool) -> None:
    """4 GiB in 10 files need 4306 MiB, as the warmup says. It has not run again."""
    warm = job("SampleSet", "warmup", status=complete(9))
    found = {"totalBytes": 4 << 30, "totalFiles": 10, "budgetBytes": 3200 << 20}
    entries = [{**SMALL, "partition": 0, "run": warm["metadata"]["name"], "message": "3 GiB of 4 GiB", **found}]
    pods = [{"ordinal": 0, "budgetBytes": budget << 20}]
    status = dataset(stateful_set(2, 2), DONE, warm, status={"attempts": entries, "partitions": pods})
    assert condition(status, "CacheTooSmall") == (("True", "CacheTooSmall") if holds else ("False", "Fits"))


def test_a_disk_that_is_smaller_than_the_budget_of_its_cache_stays_too_small() -> None:
    warm = job("SampleSet", "warmup", status=complete(9))
    found = {"totalBytes": 4 << 30, "totalFiles": 10, "budgetBytes": 9000 << 20}
    entries = [{**SMALL, "partition": 0, "run": warm["metadata"]["name"], "message": "3 GiB of 4 GiB", **found}]
    pods = [{"ordinal": 0, "budgetBytes": 9000 << 20}]
    status = dataset(stateful_set(2, 2), DONE, warm, status={"attempts": entries, "partitions": pods})
    assert condition(status, "CacheTooSmall") == ("True", "CacheTooSmall")


CLAIM: dict[str, Any] = {"csi": {"driver": "pvc"}, "partitions": None}


@pytest.mark.parametrize(
    ("objects", "phase"),
    [
        ([], None),
        ([sync(), pod(sync(), **pending())], None),
        ([sync(), pod(sync())], "Syncing"),
        ([sync(status=failed(5))], "SyncFailed"),
        ([DONE], "Ready"),
    ],
)
def test_dataset_that_is_a_claim_has_no_cache_pods_to_wait_for(objects: list[Manifest], phase: str | None) -> None:
    status = dataset(*objects, **CLAIM)
    assert status.get("phase") == phase
    assert "runtimeStatus" not in status
    assert condition(status, "Ready")[0] == condition(status, "Synced")[0] == str(phase == "Ready")


def test_claim_that_holds_the_samples_already_is_ready() -> None:
    status = dataset(**CLAIM, noSync=True)
    assert (status["phase"], condition(status, "Ready")) == ("Ready", ("True", "NoSync"))


def partition(index: int, **fields: Any) -> Manifest:
    found = job("SampleJob", "warmup", **fields)
    name = f"it-samplejob-{index}-{found['metadata']['name'][-8:]}"
    found["metadata"] |= {"name": name, "uid": f"u-{name}"}
    return found


def task(*objects: Manifest, status: Manifest | None = None, partitions: int = 2, **spec: Any) -> Any:
    given = resource("SampleJob", {"type": "warmup", "sampleSetRef": {"name": "it"}, **spec}, status)
    return report("SampleJob", given, *objects, partitions=partitions)


def test_task_pending_and_running() -> None:
    assert task()["phase"] == "Pending"
    status = task(partition(1), partition(0), pod(partition(0)))
    assert (status["phase"], status["jobName"], status["startTime"]) == ("Running", "it-samplejob-0-abcdefgh", time(1))
    assert status["counts"] == {"total": 2, "running": 2, "succeeded": 0, "failed": 0}


def test_task_is_done_when_every_partition_is() -> None:
    one = partition(0, status=complete(5))
    assert task(one)["phase"] != "Succeeded"
    status = task(one, partition(1, status=complete(7)))
    assert (status["phase"], status["completionTime"], status["counts"]["succeeded"]) == ("Succeeded", time(7), 2)


def test_task_on_a_cache_that_is_too_small_succeeds_and_says_so() -> None:
    done = [partition(number, status=complete(5)) for number in range(5)]
    entries = [
        {**SMALL, "partition": number, "run": each["metadata"]["name"], "message": "3 GiB of 4 GiB"}
        for number, each in reversed(list(enumerate(done)))
    ]
    status = task(*done, partitions=5, status={"attempts": entries})
    assert (status["phase"], condition(status, "CacheTooSmall")[0]) == ("Succeeded", "True")
    named = "; ".join(f"partition {number}: 3 GiB of 4 GiB" for number in range(3))
    assert message(status, "CacheTooSmall") == f"{named}; and 2 more"
    assert "CacheTooSmall" not in {each["type"] for each in task(type="rmr")["conditions"]}


def test_sync_is_done_before_the_caches_are_warm() -> None:
    copy, warmup = job("SampleJob", "sync", status=complete(5)), job("SampleJob", "warmup", run="zzzzzzzz")
    entry = {"task": "warmup", "partition": 0, "state": "running", "run": warmup["metadata"]["name"]}
    status = task(copy, warmup, pod(warmup), type="sync", status={"attempts": [entry]})
    assert (status["phase"], status["jobName"]) == ("Succeeded", copy["metadata"]["name"])
    assert (status["counts"]["total"], status["completionTime"]) == (1, time(5))
    assert condition(status, "Warmed") == ("False", "Running")
    warm = job("SampleJob", "warmup", run="zzzzzzzz", status=complete(9))
    status = task(copy, warm, type="sync")
    assert (condition(status, "Warmed")[0], condition(status, "CacheTooSmall")[0]) == ("True", "False")
    broken = job("SampleJob", "warmup", status=failed(9))
    status = task(copy, broken, pod(broken, **ended(137, reason="OOMKilled")), type="sync")
    assert (status["phase"], condition(status, "Warmed")) == ("Succeeded", ("False", "OOMKilled"))


def test_sync_in_another_namespace_whose_warmup_is_here() -> None:
    entry = {"task": "sync", "partition": 0, "state": "succeeded", "exitCode": 0, "run": "it-samplejob-abcdefgh"}
    status = task(job("SampleJob", "warmup"), type="sync", status={"attempts": [entry]})
    assert (status["phase"], status["jobName"]) == ("Succeeded", "it-samplejob-abcdefgh")
    assert condition(status, "Warmed") == ("False", "Running")


def test_task_fails_with_one_partition() -> None:
    broken = partition(1, status=failed(6))
    status = task(partition(0), broken, pod(broken, **ended(137, reason="OOMKilled")))
    assert (status["phase"], condition(status, "Failed")) == ("Failed", ("True", "OOMKilled"))


def test_task_failure_comes_from_the_agents_report_when_the_pod_is_gone() -> None:
    entry = {
        "task": "warmup", "partition": 0, "state": "failed", "run": "it-samplejob-0-abcdefgh",
        "exitCode": 4, "reason": "NotFound", "message": "no such path", "pod": "p",
    }  # fmt: skip
    status = task(partition(0, status=failed(6)), status={"attempts": [entry]}, partitions=1)
    assert condition(status, "Failed") == ("True", "NotFound")
    assert message(status, "Failed") == "pod p: no such path (exit code 4)"


def test_task_is_suspended() -> None:
    status = task(partition(0, suspend=True), partitions=1)
    assert (status["phase"], condition(status, "Suspended")[0]) == ("Pending", "True")


def test_newest_scheduled_run_counts() -> None:
    old, new = partition(0, run="29000000", status=failed(6)), partition(0, run="29000060", minute=30)
    status = task(old, new, pod(new), partitions=1, schedule="0 * * * *")
    assert (status["phase"], status["jobName"]) == ("Running", "it-samplejob-0-29000060")


def test_schedule_without_a_run_has_no_phase() -> None:
    assert task(schedule="0 * * * *") == {"observedGeneration": 1}


def test_status_of_the_last_scheduled_run_outlives_its_jobs() -> None:
    before = task(partition(0, status=complete(5)), partitions=1, schedule="0 * * * *")
    assert task(status={**before, "observedGeneration": 1}, schedule="0 * * * *") is None


def cube(*objects: Manifest, status: Manifest | None = None, **spec: Any) -> Any:
    return report("DataCube", resource("DataCube", spec, status), *objects)


def batch(**fields: Any) -> Manifest:
    return job("DataCube", "transfer", **fields)


@pytest.mark.parametrize(
    ("work", "container", "phase", "word", "initialized"),
    [
        ({}, None, "Pending", None, "False"),
        ({}, pending(), "Pending", "ContainerCreating", "False"),
        ({}, {}, "Running", "Running", "True"),
        ({}, ended(10), "Running", "Error", "True"),
        ({"status": complete(9)}, ended(0), "Succeeded", "Completed", "True"),
        ({"status": failed(9)}, ended(3), "Failed", "Error", "True"),
        ({"status": failed(9)}, ended(137, reason="OOMKilled"), "Failed", "OOMKilled", "True"),
    ],
)
def test_cube(work: Manifest, container: Manifest | None, phase: str, word: str | None, initialized: str) -> None:
    found = batch(**work)
    status = cube(found, *([pod(found, **container)] if container is not None else []))
    assert (status["phase"], (status.get("pod") or {}).get("status")) == (phase, word)
    assert condition(status, "Initialized")[0] == initialized
    assert condition(status, "Failed")[0] == str(phase == "Failed")
    assert condition(status, "Complete")[0] == str(phase == "Succeeded")


def test_cube_reports_why_it_retries() -> None:
    found = batch()
    status = cube(found, pod(found, **ended(10), name="first"), pod(found, minute=6, name="second"))
    assert (condition(status, "Complete"), status["pod"]["reference"]["name"]) == (
        ("False", "ContainerFailed"),
        "second",
    )


def test_initialized_of_a_cube_says_so_in_words() -> None:
    found = batch(status=complete(9))
    status = cube(found, pod(found, **ended(0)))
    (condition,) = (each for each in status["conditions"] if each["type"] == "Initialized")
    assert (condition["status"], condition["message"]) == ("True", "The DataCube is initialized")


def test_cube_deadline() -> None:
    found = batch(status=failed(9, "DeadlineExceeded"))
    assert condition(cube(found), "Failed") == ("True", "DeadlineExceeded")


def test_unchanged_conditions_keep_their_times() -> None:
    found = batch()
    before = cube(found, pod(found, minute=3))
    later = cube(found, pod(found, conditions=conditions(40, "Ready")), status=before)
    assert {each["lastProbeTime"] for each in before["conditions"]} != {time(40)}
    assert {each["lastProbeTime"] for each in later["conditions"]} == {time(40)}
    assert {each["lastProbeTime"] for each in cube(found, status=later)["conditions"]} == {time(40)}
    times = [{each["type"]: each["lastTransitionTime"] for each in status["conditions"]} for status in (before, later)]
    assert times[0] == times[1]


@pytest.mark.parametrize(("task", "phase"), [("clear", "Succeeded"), ("warmup", "Running")])
def test_a_task_that_is_under_way_while_a_node_is_added(task: str, phase: str) -> None:
    """The new node is warmed by a Job that is about to come, and its empty cache is not cleared."""
    work = job("SampleJob", task, status=complete(5))
    before = {"phase": "Running", "jobName": work["metadata"]["name"], "counts": {"total": 1}}
    given = resource("SampleJob", {"type": task, "sampleSetRef": {"name": "it"}}, before)
    assert report("SampleJob", given, work, partitions=2)["phase"] == phase
