"""A lowered SampleJob: one task, once or by schedule, and its diagnostics."""

import json
from typing import Any

import pytest

from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Lowered
from tests.unit.specs import URI, body, codes, context, lowered, of_kind, sample_job, sample_set

SYNC: dict[str, Any] = {"type": "sync", "secretRef": {"name": "source"}, "syncOptions": {"source": URI}}
RMR: dict[str, Any] = {"type": "rmr", "rmrOptions": {"paths": ["a"]}}
TASKS: dict[str, dict[str, Any]] = {"sync": SYNC, "warmup": {"type": "warmup"}, "rmr": RMR, "clear": {"type": "clear"}}


def configuration(result: Lowered) -> dict[str, Any]:
    """The configuration of the task itself."""
    return next(iter(configurations(result).values()))


def pod(result: Lowered, kind: str = "Job") -> dict[str, Any]:
    spec = of_kind(result, kind)[0].body["spec"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


@pytest.mark.parametrize("task", TASKS)
def test_objects(task: str) -> None:
    result = lowered(sample_job(**TASKS[task]))
    # A warmup follows a sync.
    more = ["ConfigMap", "Job"] if task == "sync" else []
    assert sorted(manifest.kind for manifest in result.unit.manifests) == sorted(
        [*"SampleJob ServiceAccount Role RoleBinding NetworkPolicy ConfigMap Job".split(), *more]
    )
    assert configuration(result)["task"] == task
    assert configuration(result)["target"] == {"kind": "SampleJob", "namespace": "ml", "name": "work"}


@pytest.mark.parametrize("task", ["warmup", "clear"])
def test_each_cache_pod_has_a_job_on_its_node(task: str) -> None:
    datasets = context(sample_set(partitions=3))
    result = lower(sample_job(**TASKS[task]), datasets)
    pods = [manifest.body["spec"]["template"]["spec"] for manifest in of_kind(result, "Job")]
    assert [each["containers"][0]["args"] for each in pods] == [[task, "--partition", str(i)] for i in range(3)]
    terms = [each["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0] for each in pods]
    assert [term["labelSelector"]["matchLabels"] for term in terms] == [
        {"statefulset.kubernetes.io/pod-name": f"data-runtime-{i}"} for i in range(3)
    ]


def configurations(result: Lowered) -> dict[str, dict[str, Any]]:
    """All configurations, by their task."""
    bodies = [json.loads(each.body["data"]["config.json"]) for each in of_kind(result, "ConfigMap")]
    return {each["task"]: each for each in bodies}


def names_of(result: Lowered, kind: str) -> list[str]:
    return [each.body["metadata"]["name"] for each in of_kind(result, kind)]


def test_a_sync_warms_every_cache_node() -> None:
    result = lower(sample_job(**SYNC), context(sample_set(partitions=2)))
    sync, *warmups = names_of(result, "Job")
    assert [name.rpartition("-")[0] for name in warmups] == [f"work-samplejob-warmup-{n}" for n in range(2)]
    found = configurations(result)["warmup"]
    assert (found["afterRun"], found["partitions"], found["paths"]) == (sync, 2, [])
    assert found["target"] == {"kind": "SampleJob", "namespace": "ml", "name": "work"}
    assert "activeDeadlineSeconds" not in of_kind(result, "Job")[1].body["spec"]


def test_more_cache_nodes_do_not_start_a_sync_again() -> None:
    one, two = (lower(sample_job(**SYNC), context(sample_set(partitions=number))) for number in (1, 2))
    assert names_of(one, "Job")[0] == names_of(two, "Job")[0]
    without = lower(sample_job(**SYNC), context(sample_set(warmupAfterSync=False)))
    assert names_of(without, "Job") == names_of(one, "Job")[:1]


def test_a_scheduled_sync_warms_every_cache_node_each_time() -> None:
    """The names of their Jobs end in the same minute, by which the warmup finds its sync."""
    result = lower(sample_job(**SYNC, schedule="0 3 * * *", timeZone="Etc/UTC"), context(sample_set(partitions=2)))
    assert names_of(result, "CronJob") == ["work-samplejob", "work-samplejob-warmup-0", "work-samplejob-warmup-1"]
    assert {each.body["spec"]["schedule"] for each in of_kind(result, "CronJob")} == {"0 3 * * *"}
    assert configurations(result)["warmup"]["after"] == "work-samplejob"


def test_a_warmup_finds_a_sync_with_a_long_name() -> None:
    result = lowered(sample_job("a" * 60, **SYNC))
    assert configurations(result)["warmup"]["afterRun"] == names_of(result, "Job")[0]
    result = lowered(sample_job("a" * 60, **SYNC, schedule="0 3 * * *"))
    assert configurations(result)["warmup"]["after"] == names_of(result, "CronJob")[0]


@pytest.mark.parametrize(
    ("dataset", "sync", "platform"),
    [
        ({"warmupAfterSync": False}, {}, {}),
        ({}, {}, {"warmupAfterSync": False}),
        ({"csi": {"juiceFSMountOptions": {"read-only": True}}}, {}, {}),
        # It copies nothing.
        ({}, {"dry": True}, {}),
    ],
    ids=["dataset", "platform", "read-only", "dry"],
)
def test_a_sync_after_which_no_warmup_follows(
    dataset: dict[str, Any], sync: dict[str, Any], platform: dict[str, Any]
) -> None:
    job = sample_job(**{**SYNC, "syncOptions": {"source": URI, **sync}})
    result = lower(job, context(sample_set(**dataset), juicefs=platform))
    assert list(configurations(result)) == ["sync"]
    assert len(of_kind(result, "Job")) == 1


def test_what_the_dataset_says_decides_over_the_platform() -> None:
    dataset = sample_set(noSync=True, source=None, warmupAfterSync=True)
    result = lower(sample_job(**SYNC), context(dataset, juicefs={"warmupAfterSync": False}))
    assert list(configurations(result)) == ["sync", "warmup"]


@pytest.mark.parametrize(
    ("dataset", "marks"), [({"noSync": True}, None), ({"source": {"uri": URI}}, False)], ids=["alone", "on top"]
)
def test_only_a_warmup_after_a_sync_that_completes_the_dataset_lets_jobs_start(
    dataset: dict[str, Any], *, marks: bool | None
) -> None:
    """Jobs wait for the warmup after the sync that completed the dataset. Another marker would take its place."""
    result = lower(sample_job(**SYNC), context(sample_set(**dataset)))
    assert configurations(result)["warmup"].get("marks") is marks


def test_only_the_sync_reports_the_phase_of_its_job() -> None:
    found = configurations(lower(sample_job(**SYNC), context(sample_set(), reporter=False)))
    assert (found["sync"]["reportPhase"], found["warmup"]["reportPhase"]) == (True, False)
    assert configuration(lower(sample_job(type="warmup"), context(sample_set(), reporter=False)))["reportPhase"]


def test_terminate_suspends_the_warmup_too() -> None:
    jobs = of_kind(lowered(sample_job(**SYNC, terminate=True)), "Job")
    assert [each.body["spec"]["suspend"] for each in jobs] == [True, True]


def test_sync_needs_no_mount() -> None:
    spec = pod(lowered(sample_job(**SYNC)))
    assert [volume["name"] for volume in spec["volumes"]] == ["config", "scratch"]
    assert "affinity" not in spec


def test_rmr_goes_where_the_mount_is_if_it_can() -> None:
    assert set(pod(lowered(sample_job(**RMR)))["affinity"]["podAffinity"]) == {
        "preferredDuringSchedulingIgnoredDuringExecution"
    }


def test_a_schedule_makes_a_cron_job_of_it() -> None:
    result = lowered(sample_job(**RMR, schedule="0 3 * * *", timeZone="Etc/UTC"))
    assert of_kind(result, "Job") == []
    spec = body(result, "CronJob")["spec"]
    assert (spec["schedule"], spec["timeZone"]) == ("0 3 * * *", "Etc/UTC")
    assert not of_kind(result, "ConfigMap")[0].run


@pytest.mark.parametrize(
    ("spec", "soft"),
    [(TASKS["warmup"], 570), (TASKS["clear"], 570), (RMR, None), (SYNC, None), ({**SYNC, "schedule": "@daily"}, 570)],
    ids=["warmup", "clear", "rmr", "sync", "scheduled"],
)
def test_an_agent_ends_a_little_before_its_job_would(spec: dict[str, Any], soft: int | None) -> None:
    result = lowered(sample_job(**spec), juicefs={"taskDeadlineSeconds": 600})
    assert configuration(result).get("softDeadlineSeconds") == soft
    kind = "CronJob" if "schedule" in spec else "Job"
    job = of_kind(result, kind)[0].body["spec"]
    job = job["jobTemplate"]["spec"] if kind == "CronJob" else job
    assert job.get("activeDeadlineSeconds") == (600 if soft else None)


@pytest.mark.parametrize(
    ("source", "completes"), [({"noSync": True}, True), ({"source": {"uri": URI}}, False)], ids=["alone", "on top"]
)
def test_a_sync_completes_a_dataset_without_its_own_sync(source: dict[str, Any], *, completes: bool) -> None:
    result = lower(sample_job(**SYNC), context(sample_set(**source)))
    assert configuration(result)["completes"] is completes


def test_terminate_suspends() -> None:
    assert body(lowered(sample_job(**RMR, terminate=True)), "Job")["spec"]["suspend"] is True
    assert "suspend" not in body(lowered(sample_job(**RMR, terminate=False)), "Job")["spec"]
    assert body(lowered(sample_job(**RMR, terminate=True, schedule="@daily")), "CronJob")["spec"]["suspend"] is True


def test_terminate_does_not_start_another_run() -> None:
    running, stopped = (of_kind(lowered(sample_job(**RMR, terminate=t)), "Job")[0].name for t in (False, True))
    assert running == stopped


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"paths": [], "strategy": "sequence", "threads": 50, "partitions": 1, "threshold": 95}),
        ({"paths": ["/a", "b/"]}, {"paths": ["a", "b/"]}),
        ({"file": "/lists/a.txt"}, {"file": "lists/a.txt"}),
        ({"strategyName": "random", "threads": 7}, {"strategy": "random", "threads": 7}),
        ({"partitions": 9}, {"partitions": 1}),
    ],
)
def test_warmup_options(options: dict[str, Any], expected: dict[str, Any]) -> None:
    given = configuration(lowered(sample_job(type="warmup", warmupOptions=options)))
    assert {key: given[key] for key in expected} == expected


def test_volume_belongs_to_root() -> None:
    spec = pod(lowered(sample_job(**RMR), juicefs={"taskUser": 0}))
    assert spec["securityContext"]["runAsUser"] == 0


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({}, "SP412"),
        ({"type": "sync", "syncOptions": {"source": URI}}, "SP413"),
        ({"type": "sync", "secretRef": {"name": "source"}}, "SP413"),
        ({**SYNC, "syncOptions": {"source": "s4://bucket/a"}}, "SP402"),
        ({**SYNC, "syncOptions": {"source": URI, "destination": "../a"}}, "SP405"),
        ({**SYNC, "secretRef": {"name": "source", "namespace": "storage"}}, "SP303"),
        ({"type": "rmr"}, "SP413"),
        ({"type": "rmr", "rmrOptions": {"paths": ["/"]}}, "SP405"),
        ({"type": "warmup", "warmupOptions": {"file": ".."}}, "SP405"),
        ({"type": "warmup", "warmupOptions": {"threads": -1}}, "SP205"),
        ({"type": "clear", "clearOptions": {"paths": ["/data"]}}, "SP416"),
        ({**RMR, "schedule": "every day"}, "SP415"),
        ({**RMR, "schedule": "0 0 31 2 *"}, "SP418"),
        ({**RMR, "schedule": "0 3 * * *", "timeZone": "Europe/Belrin"}, "SP204"),
        ({**RMR, "schedule": "0 3 * * *", "timeZone": ""}, "SP204"),
        ({**RMR, "sampleSetRef": {"name": "other"}}, "SP302"),
        ({**RMR, "sampleSetRef": None}, "SP413"),
    ],
)
def test_a_spec_that_cannot_work_has_no_objects(spec: dict[str, Any], code: str) -> None:
    result = lowered(sample_job(**spec))
    assert code in codes(result)
    assert result.unit.manifests == ()


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({**RMR, "timeZone": "Etc/UTC"}, "SP406"),
        ({**RMR, "warmupOptions": {}}, "SP414"),
        ({"type": "warmup", "warmupOptions": {"partitions": 1}}, "SP406"),
        ({"type": "warmup", "warmupOptions": {"file": "a", "paths": ["b"]}}, "SP406"),
    ],
)
def test_fields_without_effect_are_reported(spec: dict[str, Any], code: str) -> None:
    result = lowered(sample_job(**spec))
    assert code in codes(result)
    assert result.unit.manifests != ()


@pytest.mark.parametrize("path", ["/dev/shm/data", "/dev/shm/data/", "/dev/shm/data/*", "/cache/dev-shm-data/a"])
def test_clear_names_directories_of_the_cache(path: str) -> None:
    assert "SP416" not in codes(lowered(sample_job(type="clear", clearOptions={"paths": [path]})))


@pytest.mark.parametrize("path", ["/dev/shm/data2", "/dev/shm", "data", "/"])
def test_clear_names_no_other_directories(path: str) -> None:
    assert "SP416" in codes(lowered(sample_job(type="clear", clearOptions={"paths": [path]})))


TIERS = {"levels": [{"path": "/data/a:/data/b", "cacheSize": 1024}, {"path": "/dev/shm/c", "cacheSize": 512}]}


@pytest.mark.parametrize(
    "paths",
    [["/data/a", "/data/b", "/dev/shm/c"], ["/dev/shm/c/*", "/data/b/", "/cache/data-a", "/data/b/raw"], None],
    ids=["all", "in other words", "none"],
)
def test_clear_of_all_directories_clears_the_whole_cache(paths: list[str] | None) -> None:
    result = lower(sample_job(type="clear", clearOptions={"paths": paths}), context(sample_set(cache=TIERS)))
    assert codes(result) == []
    assert configuration(result)["cachePaths"] == []


@pytest.mark.parametrize(
    "paths", [["/data/a"], ["/data/a", "/data/b"], ["/data/a", "/data/b", "/dev/shm/c/raw"], ["/cache/data-b/raw"]]
)
def test_clear_of_some_directories_is_refused(paths: list[str]) -> None:
    result = lower(sample_job(type="clear", clearOptions={"paths": paths}), context(sample_set(cache=TIERS)))
    assert codes(result) == ["SP421"]
    assert result.unit.manifests == ()


def test_a_dataset_of_another_namespace_is_reported() -> None:
    elsewhere = sample_set().model_copy(
        update={"metadata": sample_set().metadata.model_copy(update={"namespace": "x"})}
    )
    result = lower(sample_job(**RMR), context(elsewhere))
    assert codes(result) == ["SP302"]
    assert "only in x" in result.findings[0].message
