"""The status of Datasets."""

from typing import Any

import pytest

from tests.unit.agents.reporter.given import (
    Manifest,
    complete,
    condition,
    failed,
    job,
    labels,
    pod,
    report,
    resource,
    runtime_pod,
    stateful_set,
)

SPEC = {
    "source": {"s3": {"uri": "s3://a/b"}},
    "volume": {"juicefs": {"secretRef": {"name": "volume"}}},
    "cache": {"nodes": 2},
}
CLAIM = {"source": SPEC["source"], "volume": {"claim": {"name": "samples"}}}


def dataset(*objects: Manifest, spec: Manifest = SPEC, status: Manifest | None = None) -> Any:
    return report("Dataset", resource("Dataset", spec, status), *objects)


def task(name: str, role: str, run: str, **fields: Any) -> Manifest:
    """A Job of the dataset with this name."""
    made = job("Dataset", role, **fields)
    made["metadata"] |= {"name": f"{name}-{run}", "uid": f"u-{name}-{run}"}
    return made


def sync(**fields: Any) -> Manifest:
    return task("it-sync", "sync", "abcdefgh", **fields)


def warmup(number: int, **fields: Any) -> Manifest:
    return task(f"it-warmup-{number}", "warmup", "bcdefgha", **fields)


def refresh(at: int = 20, **fields: Any) -> Manifest:
    return task("it-refresh", "sync", str(29000000 + at), minute=at, **fields)


def caches(ready: int) -> Manifest:
    return stateful_set(2, ready, labels=labels("Dataset"))


DONE = sync(status=complete(5))


@pytest.mark.parametrize(
    ("objects", "phase"),
    [
        ([], None),
        ([caches(1), sync(), pod(sync())], "Syncing"),
        ([caches(2), sync(status=failed(5))], "SyncFailed"),
        ([caches(1), DONE], "PartialReady"),
        ([caches(2), DONE], "Ready"),
        ([caches(2), DONE, refresh(), pod(refresh())], "Ready"),
        ([caches(2), DONE, refresh(status=failed(25))], "Ready"),
        ([caches(2), sync(status=failed(5)), refresh(status=complete(25))], "SyncFailed"),
    ],
)
def test_phase(objects: list[Manifest], phase: str | None) -> None:
    assert dataset(*objects).get("phase") == phase


@pytest.mark.parametrize(
    ("objects", "phase"),
    [([], None), ([sync(), pod(sync())], "Syncing"), ([DONE], "Ready"), ([sync(status=failed(5))], "SyncFailed")],
)
def test_phase_in_a_claim_or_without_a_cache(objects: list[Manifest], phase: str | None) -> None:
    assert dataset(*objects, spec=CLAIM).get("phase") == phase
    without = {key: value for key, value in SPEC.items() if key != "cache"}
    assert dataset(*objects, spec=without).get("phase") == phase


def test_data_that_is_there_already_is_ready() -> None:
    status = dataset(spec={"volume": SPEC["volume"]})
    assert status["phase"] == "Ready"
    assert "Synced" not in {each["type"] for each in status["conditions"]}


def test_sync_and_warmup_are_runs_of_their_own() -> None:
    status = dataset(caches(2), DONE, warmup(0, status=complete(9)), warmup(1))
    assert condition(status, "Synced")[0] == "True"
    assert condition(status, "Warmed")[0] == "False"
    status = dataset(caches(2), DONE, warmup(0, status=complete(9)), warmup(1, status=complete(9)))
    assert condition(status, "Warmed")[0] == "True"


def test_a_refresh_has_a_condition_of_its_own() -> None:
    assert "Refreshed" not in {each["type"] for each in dataset(caches(2), DONE)["conditions"]}
    assert condition(dataset(caches(2), DONE, refresh()), "Refreshed")[0] == "False"
    status = dataset(caches(2), DONE, refresh(status=complete(25)))
    assert (condition(status, "Refreshed")[0], condition(status, "Synced")[0]) == ("True", "True")
    status = dataset(caches(2), DONE, refresh(status=complete(25)), refresh(26, status=failed(30)))
    assert (condition(status, "Refreshed")[0], condition(status, "Synced")[0]) == ("False", "True")


def test_the_cache_pods_of_a_dataset_count() -> None:
    status = dataset(caches(1), runtime_pod(), DONE)
    assert status["runtimeStatus"] == {"specReplicas": 2, "readyReplicas": 1, "runtimeReady": "1/2"}
