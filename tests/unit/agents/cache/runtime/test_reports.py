"""The sums over all cache pods, which the first one reports."""

from dataclasses import dataclass
from typing import Any

from stowplan.agents.cache.drivers.api import DatasetSize, Pulse
from stowplan.agents.cache.runtime.figures import Figures, LatestFigures
from stowplan.agents.cache.runtime.reports import SILENT_SECONDS, Sightings, Sums, own
from stowplan.schema.agents.cache_config import RuntimeConfig

MIB = 1 << 20


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def sums(clock: Clock, partitions: int = 3) -> Sums:
    """Return sums in which pod 0 has cached 100 MiB of 200 MiB, and has no budget for more."""
    config = RuntimeConfig.model_validate(
        {
            "target": {"kind": "SampleSet", "namespace": "ml", "name": "imagenet"},
            "reportPhase": True,
            "mountPath": "/mnt/imagenet",
            "partitions": partitions,
            "cacheSizeMiB": 100,
            "mountOptions": [],
            "synced": False,
            "warmed": False,
        }
    )
    record = LatestFigures(Figures(0, "node-0", 100 * MIB))
    record.felt(Pulse(100 * MIB))
    record.measured(DatasetSize(200 * MIB, 1281))
    return Sums(config, record, Sightings(clock))


def entry(ordinal: int, cached: int = 0, at: str = "1", **fields: Any) -> dict[str, Any]:
    figures = {"totalBytes": 7, "totalFiles": 7, "cachedBytes": cached * MIB, "budgetBytes": 100 * MIB}
    return {"ordinal": ordinal, **figures, "observedAt": at, **fields}


def resource(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {}, "status": {"partitions": list(entries)}}


def test_sums_of_all() -> None:
    found = sums(Clock()).status(resource(entry(0, 1), entry(1, 90), entry(2, 80)))
    assert found["cacheStatus"] == {
        "totalSize": "200 MiB",
        "totalFiles": "1,281",
        # Of 270 MiB, the whole size.
        "cachedSize": "200 MiB",
        "diskSize": "300 MiB",
        "diskUsed": "270 MiB",
        "diskAvail": "30 MiB",
        "diskUsageRate": "90.0%",
    }
    assert (found["phase"], found["runtimeStatus"]["runtimeReady"]) == ("Ready", "3/3")
    assert "jobsName" not in found


def test_caches_over_their_budget() -> None:
    """JuiceFS exceeds its size for a moment."""
    found = sums(Clock(), 1).status(resource())
    assert found["cacheStatus"]["diskAvail"] == "0 B"
    over = sums(Clock(), 1)
    over.record.felt(Pulse(150 * MIB))
    assert over.status(resource())["cacheStatus"]["diskAvail"] == "0 B"


def test_available_space_is_what_each_node_can_take() -> None:
    """A full node takes nothing of another's space. A node that has not reported counts with its budget."""
    tested = sums(Clock(), 4)
    tested.record.felt(Pulse(20 * MIB), 1 * MIB)
    found = tested.status(resource(entry(1, 120), entry(2, 30, availableBytes=5 * MIB)))
    assert found["cacheStatus"]["diskAvail"] == "106 MiB"
    assert (found["cacheStatus"]["diskSize"], found["cacheStatus"]["diskUsed"]) == ("400 MiB", "170 MiB")


def test_a_change_of_the_available_space_alone_is_no_reason_to_report() -> None:
    """The memory of a node changes all the time."""
    record = LatestFigures(Figures(0, "node-0", 100 * MIB))
    record.felt(Pulse(0), 70 * MIB)
    before = own(record, None)
    record.felt(Pulse(0), 60 * MIB)
    assert own(record, None) == before
    assert own(record, {})["partitions"][0]["availableBytes"] == 60 * MIB
    record.felt(Pulse(None), None)
    assert own(record, {})["partitions"][0]["availableBytes"] == 60 * MIB


def test_partitions_that_are_missing_or_in_trouble() -> None:
    found = sums(Clock()).status(resource(entry(0), entry(1, message="MountDead: gone")))
    assert found["runtimeStatus"] == {"specReplicas": 3, "readyReplicas": 1, "runtimeReady": "1/3"}
    assert found["cacheStatus"]["errorMassage"] == "partition 1: MountDead: gone"
    reported = "partition 1: MountDead: gone; partition 2: no report yet"
    assert found["conditions"][0]["message"] == f"1 of 3 cache pods are ready: {reported}"


def test_partition_that_falls_silent() -> None:
    """By the clock of this process, since that of the pod's node may be wrong."""
    clock = Clock()
    tested = sums(clock, 2)
    assert tested.status(resource(entry(1, 50, "1")))["phase"] == "Ready"
    clock.now += SILENT_SECONDS
    assert tested.status(resource(entry(1, 50, "0")))["phase"] == "Ready"
    clock.now += SILENT_SECONDS + 1
    found = tested.status(resource(entry(1, 50, "0")))
    assert found["phase"] == "PartialReady"
    assert found["cacheStatus"]["errorMassage"] == "partition 1: no report for some time"
    assert found["cacheStatus"]["diskUsed"] == "100 MiB"


def test_before_anything_was_measured() -> None:
    tested = sums(Clock(), 1)
    tested.record = LatestFigures(Figures(0, None, 100 * MIB))
    found = tested.status({"metadata": {}})
    assert found["cacheStatus"] == {
        "diskSize": "100 MiB",
        "diskUsed": "0 B",
        "diskAvail": "100 MiB",
        "diskUsageRate": "0.0%",
        "errorMassage": "partition 0: Starting: Nothing was measured yet",
    }
    assert found["phase"] == "Bound"


def test_surplus_ordinals() -> None:
    tested, found = sums(Clock(), 2), resource(entry(4), entry(0), entry(1), entry(2))
    assert [manager for manager, _ in tested.all(found)] == [
        "stowplan-cache-sum",
        "stowplan-cache-2",
        "stowplan-cache-4",
    ]
    assert tested.status(found)["runtimeStatus"]["runtimeReady"] == "2/2"


def test_names_of_the_runs() -> None:
    attempts = [
        {"task": "warmup", "partition": 1, "run": "w1"},
        {"task": "warmup", "partition": 0, "run": "w0"},
        {"task": "sync", "partition": 0, "run": "s"},
    ]
    found = sums(Clock()).status({"metadata": {}, "status": {"attempts": attempts}})
    assert found["jobsName"] == {"syncJobName": "s", "warmupJobName": "w0"}


def test_caches_that_are_too_small_are_a_condition() -> None:
    tested = sums(Clock(), 2)
    tested.config = tested.config.model_copy(update={"warmed": True})
    small = {"state": "succeeded", "reason": "CacheTooSmall", "message": "1 GiB of 2 GiB", "exitCode": 0}
    attempts = [
        {"task": "warmup", "partition": 0, "state": "succeeded", "exitCode": 0},
        {"task": "warmup", "partition": 1, **small},
        {"task": "warmup", "partition": 7, **small},
    ]
    found = {each["type"]: each for each in tested.status({"status": {"attempts": attempts}})["conditions"]}
    assert (found["Warmed"]["status"], found["CacheTooSmall"]["status"]) == ("True", "True")
    assert found["CacheTooSmall"]["message"] == "partition 1: 1 GiB of 2 GiB"
    attempts[1] |= {"totalBytes": 50 * MIB, "totalFiles": 1, "budgetBytes": 40 * MIB}
    status = {"attempts": attempts, "partitions": [entry(1)]}
    found = {each["type"]: each for each in tested.status({"status": status})["conditions"]}
    assert found["CacheTooSmall"]["status"] == "False"
