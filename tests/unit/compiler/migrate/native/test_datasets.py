"""SampleSets become Datasets, and SampleJobs DatasetTasks."""

from typing import Any

import pytest

from tests.unit.compiler.migrate.native.migrated import Result, migrated, spec

SET = """
partitions: 2
source: {uri: s3://bucket.example.com/train}
secretRef: {name: volume}
"""

CLAIM_SPEC = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": 1}}}


def dataset(body: str) -> Any:
    result = migrated(spec("SampleSet", body))
    assert result.reasons == []
    return result.document()["spec"]


def with_task(body: str, of_set: str = SET) -> Result:
    job = spec("SampleJob", f"sampleSetRef: {{name: x}}\n{body}", "task")
    return migrated(f"{spec('SampleSet', of_set)}---\n{job}")


def task(body: str, of_set: str = SET) -> Any:
    result = with_task(body, of_set)
    assert result.reasons == []
    return result.document(1)["spec"]


def test_a_sample_set_keeps_its_volume_its_source_and_its_caches() -> None:
    assert dataset(SET) == {
        "source": {"storage": {"uri": "s3://bucket.example.com/train", "secretRef": {"name": "volume"}}},
        "volume": {"juicefs": {"secretRef": {"name": "volume"}, "subPath": "/"}},
        "cache": {"nodes": 2, "tiers": [{"path": "/dev/shm/x", "size": "4096Mi"}]},
    }


def test_identity_and_metadata_stay() -> None:
    text = spec("SampleSet", SET).replace("namespace: ml", "namespace: ml, labels: {team: a}")
    document = migrated(text).document()
    assert (document["apiVersion"], document["kind"]) == ("stowplan.dev/v1alpha1", "Dataset")
    assert document["metadata"] == {"name": "x", "namespace": "ml", "labels": {"team": "a"}}


def test_a_source_with_a_secret_of_its_own() -> None:
    given = SET.replace("train}", "train, secretRef: {name: source, namespace: ml}}")
    assert dataset(given)["source"]["storage"]["secretRef"] == {"name": "source"}


def test_a_volume_that_is_filled_by_other_means_has_no_source() -> None:
    result = migrated(spec("SampleSet", f"{SET}noSync: true"))
    assert "source" not in result.document()["spec"]
    assert result.omitted == ["spec.source"]


@pytest.mark.parametrize(
    ("cache", "tiers"),
    [
        (
            "cache: {levels: [{mediumType: MEM, path: /mem, cacheSize: 1024}, {path: /ssd, cacheSize: 2048}]}",
            [{"path": "/mem", "size": "1024Mi", "medium": "Memory"}, {"path": "/ssd", "size": "2048Mi"}],
        ),
        (
            "cache: {levels: [{path: '/a:/b', cacheSize: 5}]}",
            [{"path": "/a", "size": "3Mi"}, {"path": "/b", "size": "2Mi"}],
        ),
        ("cache: {levels: [{path: /a}]}", [{"path": "/a", "size": "4096Mi"}]),
        (
            "cache: {levels: [{cacheSize: 9}, {cacheSize: 1}]}\ncsi: {juiceFSMountOptions: {cache-dir: /a}}",
            [{"path": "/a", "size": "10Mi"}],
        ),
        ("cache: {levels: [{cacheSize: 9}]}", [{"path": "/dev/shm/x", "size": "9Mi"}]),
        (
            "csi: {juiceFSMountOptions: {cache-dir: '/a:/b', cache-size: 4}}",
            [{"path": "/a", "size": "2Mi"}, {"path": "/b", "size": "2Mi"}],
        ),
    ],
)
def test_tiers_add_up_to_the_same_size_in_the_same_directories(cache: str, tiers: list[dict[str, str]]) -> None:
    assert dataset(SET + cache)["cache"]["tiers"] == tiers


def test_mount_options_and_the_directory() -> None:
    options = "csi: {juiceFSMountOptions: {sub-dir: /train/, prefetch: 3, cache-size: 10}}"
    volume = dataset(SET + options)["volume"]["juicefs"]
    assert volume == {"secretRef": {"name": "volume"}, "subPath": "train", "options": {"prefetch": 3}}


def test_placement_and_warmup() -> None:
    terms = "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}"
    affinity = f"nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}"
    cache = dataset(f"{SET}{affinity}\ntolerations: [{{key: gpu}}]\nwarmupAfterSync: false")["cache"]
    assert cache["affinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert (cache["tolerations"], cache["warmup"]) == ([{"key": "gpu"}], "none")


@pytest.mark.parametrize(
    ("claim", "volume"),
    [
        ("", {"name": "x", "subPath": "/"}),
        ("claim: {name: nfs, subPath: a/b}", {"name": "nfs", "subPath": "a/b"}),
        (
            "claim: {name: nfs, template: {spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1}}}}}",
            {"template": {"spec": CLAIM_SPEC, "metadata": {"name": "nfs"}}, "subPath": "/"},
        ),
        (
            "claim: {template: {spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1}}}}}",
            {"template": {"spec": CLAIM_SPEC}, "subPath": "/"},
        ),
    ],
)
def test_a_dataset_in_a_claim(claim: str, volume: dict[str, Any]) -> None:
    csi = f"csi:\n  driver: pvc\n  {claim}"
    found = dataset(f"source: {{uri: s3://bucket/train}}\nsecretRef: {{name: keys}}\n{csi}")
    assert found["volume"] == {"claim": volume}
    assert found["source"] == {"s3": {"uri": "s3://bucket/train", "secretRef": {"name": "keys"}}}
    assert "cache" not in found


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (SET.replace("{name: volume}", "{name: volume, namespace: other}"), "spec.secretRef.namespace"),
        (f"{SET}csi: {{juiceFSMountOptions: {{cache-dir: memory}}}}", "spec.csi.juiceFSMountOptions.cache-dir"),
        ("noSync: true\ntolerations: [{key: gpu}]\ncsi: {driver: pvc}", "spec.tolerations"),
    ],
)
def test_what_a_dataset_cannot_hold_is_said_at_its_line(body: str, at: str) -> None:
    result = migrated(spec("SampleSet", body))
    assert (result.reasons, result.texts) == ([("SP427", at)], {})


def test_a_public_store_is_copied_to_a_claim_without_keys() -> None:
    found = dataset("source: {uri: minio://minio.example.com:9000/bucket/train}\ncsi: {driver: pvc}")
    uri = {"uri": "s3://bucket/train", "endpoint": "http://minio.example.com:9000", "anonymous": True}
    assert found["source"] == {"s3": uri}


def test_no_warmup_follows_on_a_volume_that_is_read_only() -> None:
    found = dataset(f"{SET}csi: {{juiceFSMountOptions: {{read-only: true}}}}\nwarmupAfterSync: true")
    assert found["cache"]["warmup"] == "none"


def test_a_secret_elsewhere_is_no_matter_without_a_sync() -> None:
    found = dataset(SET.replace("{name: volume}", "{name: volume, namespace: other}") + "noSync: true")
    assert found["volume"]["juicefs"]["secretRef"] == {"name": "volume", "namespace": "other"}


@pytest.mark.parametrize(
    ("body", "native"),
    [
        ("type: warmup", {"warmup": {}}),
        ("type: warmup\nwarmupOptions: {paths: [a, b], strategyName: sequence}", {"warmup": {"paths": ["a", "b"]}}),
        ("type: rmr\nrmrOptions: {paths: [a]}", {"remove": {"paths": ["a"]}}),
        ("type: clear\nclearOptions: {paths: [/dev/shm/x]}\nsecretRef: {name: a}", {"evict": {}}),
        ("type: sync\nsecretRef: {name: volume}\nsyncOptions: {source: s3://bucket.example.com/train/}", {"sync": {}}),
        (
            "type: warmup\nschedule: 0 3 * * *\ntimeZone: Europe/Berlin\nterminate: true",
            {"warmup": {}, "schedule": "0 3 * * *", "timeZone": "Europe/Berlin", "suspend": True},
        ),
    ],
)
def test_tasks(body: str, native: dict[str, Any]) -> None:
    assert task(body) == {"datasetRef": {"name": "x"}, **native}


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (
            "type: sync\nsecretRef: {name: volume}\nsyncOptions: {source: s3://other.example.com/}",
            "spec.syncOptions.source",
        ),
        (
            "type: sync\nsecretRef: {name: other}\nsyncOptions: {source: s3://bucket.example.com/train}",
            "spec.secretRef",
        ),
        (
            "type: sync\nsecretRef: {name: volume}\nsyncOptions: {source: s3://bucket.example.com/train, perms: true}",
            "spec.syncOptions.perms",
        ),
        ("type: warmup\nwarmupOptions: {file: list.txt}", "spec.warmupOptions.file"),
        ("type: warmup\nwarmupOptions: {paths: [a], strategyName: random}", "spec.warmupOptions.strategyName"),
    ],
)
def test_a_task_that_cannot_be_kept_keeps_its_sample_set(body: str, at: str) -> None:
    result = with_task(body)
    assert result.reasons == [("SP427", "metadata.name"), ("SP427", at)]
    assert result.texts == {}
