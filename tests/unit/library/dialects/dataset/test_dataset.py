"""Datasets as drivers and other kinds see them, and what follows from an edit of one."""

import json
from typing import Any

import pytest

from stowplan.library.dialects.dataset import dialect
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.lower import lower
from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import ExternalReference
from stowplan.library.values import labels
from stowplan.schema.kinds.native.dataset import Dataset
from tests.unit.specs import context

S3 = {"s3": {"uri": "s3://images/train", "secretRef": {"name": "bucket"}}}
VOLUME = {"juicefs": {"secretRef": {"name": "volume"}}}
TEMPLATE = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}}}


def model(name: str = "data", **spec: Any) -> Dataset:
    body = {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "Dataset",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"volume": VOLUME, **spec},
    }
    return Dataset.model_validate(body)


def codes(found: Lowered) -> list[str]:
    return [each.code for each in found.findings]


def names(found: Lowered, kind: str) -> list[str]:
    return [each.name for each in found.unit.manifests if each.kind == kind]


def sync_of(found: Lowered) -> tuple[Any, Any]:
    """The configuration of the only Job, and the spec of its pod."""
    made = {each.kind: each.body for each in found.unit.manifests}
    return json.loads(made["ConfigMap"]["data"]["config.json"]), made["Job"]["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    ("volume", "sub_dir", "claim"),
    [
        ({"juicefs": {"secretRef": {"name": "v"}}}, "ml/data", ("data", "")),
        ({"juicefs": {"secretRef": {"name": "v"}, "subPath": "/"}}, "", ("data", "")),
        ({"juicefs": {"secretRef": {"name": "v"}, "subPath": "sets//x/"}}, "sets/x", ("data", "")),
        ({"claim": {"name": "team"}}, None, ("team", "ml/data")),
        ({"claim": {"name": "team", "subPath": "/"}}, None, ("team", "")),
        ({"claim": {"template": TEMPLATE}}, None, ("data", "ml/data")),
        ({"claim": {"template": {"metadata": {"name": "own"}, **TEMPLATE}}}, None, ("own", "ml/data")),
    ],
)
def test_place_of_the_data(volume: Any, sub_dir: str | None, claim: tuple[str, str]) -> None:
    found = cached_dataset(model(volume=volume), context())
    assert found.options.sub_dir == sub_dir
    assert (found.claim.name, found.claim.sub_path) == claim


@pytest.mark.parametrize(
    ("cache", "directories"),
    [
        ({}, "/var/jfsCache/ml.data"),
        ({"cacheDirectories": ["/data/caches/", "/other"]}, "/data/caches/ml.data"),
    ],
)
def test_a_cache_without_tiers_has_a_directory_of_its_own(cache: Any, directories: str) -> None:
    found = cached_dataset(model(cache={"nodes": 1}), context(juicefs={"cacheSize": 2048, **cache}))
    (tier,) = found.tiers
    assert (tier.directories, tier.size_mib) == ((directories,), 2048)


@pytest.mark.parametrize(
    ("size", "mebibytes"), [("1Gi", 1024), ("1500Mi", 1500), ("1G", 953), ("1e9", 953), ("512", 0)]
)
def test_sizes_of_tiers(size: str, mebibytes: int) -> None:
    found = cached_dataset(model(cache={"nodes": 1, "tiers": [{"path": "/data", "size": size}]}), context())
    assert found.tiers[0].size_mib == mebibytes


@pytest.mark.parametrize(
    ("cache", "warmed"),
    [
        (None, False),
        ({"nodes": 1}, True),
        ({"nodes": 1, "warmup": "none"}, False),
        ({"nodes": 1, "warmup": "none", "warmupPaths": ["a"]}, True),
    ],
)
def test_a_warmup_follows_each_sync(cache: Any, *, warmed: bool) -> None:
    found = cached_dataset(model(source=S3, cache=cache), context())
    assert (found.warmed, found.warms) == (warmed, warmed)


def test_no_warmup_follows_on_a_mount_that_is_read_only() -> None:
    source = {"storage": {"uri": "oss://bucket.example.com/a/"}}
    volume = {"juicefs": {"secretRef": {"name": "volume"}, "options": {"read-only": True}}}
    found = lower(model(source=source, volume=volume, cache={"nodes": 1}), context())
    assert codes(found) == ["SP410"]
    assert [each.stem for each in found.unit.manifests if each.kind == "Job"] == ["data-sync"]


def test_more_cache_nodes_do_not_start_the_sync_again() -> None:
    jobs = {}
    for nodes in (1, 2):
        found = lower(model(source=S3, cache={"nodes": nodes}), context())
        jobs[nodes] = {each.stem: each.name for each in found.unit.manifests if each.kind == "Job"}
    assert jobs[1]["data-sync"] == jobs[2]["data-sync"]
    assert set(jobs[2]) == {"data-sync", "data-warmup-0", "data-warmup-1"}


def test_an_edit_of_the_source_starts_the_sync_again() -> None:
    source = {"s3": {**S3["s3"], "uri": "s3://images/test"}}
    one, other = (names(lower(model(source=each), context()), "Job") for each in (S3, source))
    assert one != other


def test_a_dataset_that_is_there_already_has_only_its_volume() -> None:
    found = lower(model(), context())
    assert {each.kind for each in found.unit.manifests} == {"Dataset", "PersistentVolume", "PersistentVolumeClaim"}


def test_a_long_name_keeps_the_word_refresh() -> None:
    name = "a" * 40
    found = lower(model(name, source=S3, refresh={"schedule": "0 3 * * *"}, cache={"nodes": 1}), context())
    assert codes(found) == []
    sync, warmup = sorted(names(found, "CronJob"), key=len)
    assert sync == f"{name}-refresh"
    assert warmup.endswith("-refresh-warmup-0")
    assert len(warmup) <= 52


@pytest.mark.parametrize(
    ("retain", "options"), [({}, labels.KEEP), ({"retain": True}, labels.KEEP), ({"retain": False}, labels.REMOVE)]
)
@pytest.mark.parametrize("volume", [VOLUME, {"claim": {"template": TEMPLATE}}])
def test_argo_cd_may_delete_the_objects_of_a_volume_only_if_the_spec_says_so(
    volume: Any, retain: Any, options: str
) -> None:
    found = lower(model(source=S3, volume=volume, **retain), context())
    volumes = [each.body for each in found.unit.manifests if each.kind.startswith("PersistentVolume")]
    assert volumes
    assert {each["metadata"]["annotations"][labels.SYNC_OPTIONS] for each in volumes} == {options}
    reclaimed = [each["spec"].get("persistentVolumeReclaimPolicy") for each in volumes]
    assert set(reclaimed) <= {None, "Retain"}


def test_secrets_and_claims_that_must_be_there() -> None:
    found = lower(model(source={"git": {"url": "https://a/b.git", "secretRef": {"name": "git"}}}), context())
    volume = ("bucket", "metaurl", "name", "storage")
    assert found.unit.externals == (
        ExternalReference("Secret", "ml", "git", ("token",)),
        ExternalReference("Secret", "ml", "volume", volume),
    )
    found = lower(model(source=S3, volume={"claim": {"name": "team"}}), context())
    assert found.unit.externals == (
        ExternalReference("PersistentVolumeClaim", "ml", "team"),
        ExternalReference("Secret", "ml", "bucket", ("access-key", "secret-key")),
    )


@pytest.mark.parametrize(
    ("name", "cache", "found"),
    [
        ("1data", {"nodes": 1}, ["SP210"]),
        ("a.b", {"nodes": 1}, ["SP210"]),
        ("a" * 45, {"nodes": 1}, ["SP504"]),
        ("a.b", None, []),
    ],
)
def test_names_that_cache_pods_cannot_have(name: str, cache: Any, found: list[str]) -> None:
    assert codes(lower(model(name, cache=cache), context())) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({"s3": {"uri": "s3://key:secret@bucket/a", "anonymous": True}}, ["SP603"]),
        ({"s3": {"uri": "s3://bucket/a@b", "anonymous": True}}, []),
        ({"huggingface": {"repo": "acme/a..b"}}, ["SP494"]),
        ({"huggingface": {"repo": "ä/b"}}, ["SP494"]),
        ({"git": {"url": "https://git.example.com/.git"}}, ["SP495"]),
        ({"git": {"url": "https://git.example.com/a.git", "ref": "-f"}}, ["SP494"]),
        ({"git": {"url": "https://git.example.com/a.git", "secretRef": {"name": "A"}}}, ["SP210"]),
        ({"storage": {"uri": "oss://key:secret@bucket.example.com/a/"}}, ["SP603"]),
    ],
)
def test_sources_that_cannot_be_copied(source: Any, found: list[str]) -> None:
    assert codes(lower(model(source=source), context())) == found


STORAGE = {"storage": {"uri": "oss://bucket.example.com/a", "secretRef": {"name": "bucket"}}}
CLAIM = {"claim": {"name": "team"}}


@pytest.mark.parametrize("uri", ["oss://bucket.example.com/a", "s3://bucket/a/", "minio://10.0.0.1:9000/bucket/a//"])
def test_juicefs_copies_a_directory_of_a_storage_into_a_claim(uri: str) -> None:
    """Without the slash at the end it would also copy what else begins as the directory does."""
    config, pod = sync_of(lower(model(source={"storage": {"uri": uri}}, volume=CLAIM), context()))
    assert (config["task"], config["source"]) == ("sync", f"{uri.rstrip('/')}/")
    assert (config["mountPath"], config["root"], config["destination"]) == ("/mnt/claim", "/ml/data", "/ml/data/")
    assert pod["containers"][0]["args"] == ["sync"]
    assert "stowplan-cache" in pod["containers"][0]["image"]


def test_a_sync_into_a_claim_reads_the_secret_of_its_source_alone() -> None:
    found = lower(model(source=STORAGE, volume=CLAIM), context())
    assert codes(found) == []
    _, pod = sync_of(found)
    env = [each["valueFrom"]["secretKeyRef"] for each in pod["containers"][0]["env"] if "secretKeyRef" in str(each)]
    assert {(each["name"], each["key"]) for each in env} == {("bucket", "access-key"), ("bucket", "secret-key")}
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"] == 65532
    assert found.unit.externals == (
        ExternalReference("PersistentVolumeClaim", "ml", "team"),
        ExternalReference("Secret", "ml", "bucket", ()),
    )


def test_a_sync_into_a_new_claim_and_into_its_root() -> None:
    found = lower(model(source=STORAGE, volume={"claim": {"template": TEMPLATE, "subPath": "/"}}), context())
    assert names(found, "PersistentVolumeClaim") == ["data"]
    config, pod = sync_of(found)
    assert (config.get("root"), config["destination"]) == (None, "/")
    assert pod["volumes"][-1]["persistentVolumeClaim"] == {"claimName": "data"}


REFRESH = {"refresh": {"schedule": "0 3 * * *"}}


@pytest.mark.parametrize("volume", [VOLUME, CLAIM])
def test_patterns_of_a_storage_reach_its_sync(volume: Any) -> None:
    patterns = {"include": ["a/", "*.b"], "exclude": ["*~"]}
    configs = []
    for more in ({}, patterns):
        found = lower(model(source={"storage": {**STORAGE["storage"], **more}}, volume=volume), context())
        assert codes(found) == []
        bodies = [each.body["data"].get("config.json") for each in found.unit.manifests if each.kind == "ConfigMap"]
        configs += [config for each in bodies if (config := json.loads(each or "{}")).get("task") == "sync"]
    plain, chosen = configs
    assert chosen == {**plain, **patterns}


@pytest.mark.parametrize("volume", [VOLUME, CLAIM])
@pytest.mark.parametrize(("given", "written"), [({}, None), ({"maxDelete": 1000}, None), ({"maxDelete": 0}, 0)])
def test_how_many_files_a_storage_may_lose_when_it_moves(
    volume: Any, given: dict[str, int], written: int | None
) -> None:
    found = lower(model(source={**STORAGE, **given}, volume=volume), context())
    assert codes(found) == []
    bodies = [each.body["data"].get("config.json") for each in found.unit.manifests if each.kind == "ConfigMap"]
    (config,) = [config for each in bodies if (config := json.loads(each or "{}")).get("task") == "sync"]
    assert config.get("maxDelete") == written


@pytest.mark.parametrize(
    ("source", "volume", "more", "found"),
    [
        ({"storage": {"uri": "ks3://b.example.com/a/", "secretRef": {"name": "s"}}}, CLAIM, {}, ["SP419"]),
        ({"storage": {"uri": "oss://b.example.com/a;b/"}}, CLAIM, {}, ["SP402"]),
        (STORAGE, CLAIM, {"refresh": {"schedule": "0 3 * * *", "delete": True, "maxDelete": 5}}, ["SP464"]),
        (STORAGE, CLAIM, {"cache": {"nodes": 1}}, ["SP462"]),
        ({"storage": {"uri": "redis://store.example.com:6379/1/"}}, CLAIM, {}, []),
        ({"storage": {"uri": "redis://store.example.com:6379/1/"}}, CLAIM, REFRESH, ["SP411"]),
    ],
)
def test_what_a_storage_cannot_do_for_a_claim(source: Any, volume: Any, more: Any, found: list[str]) -> None:
    assert codes(lower(model(source=source, volume=volume, **more), context())) == found


@pytest.mark.parametrize(
    ("spec", "first", "refresh"),
    [
        ({"volume": CLAIM}, True, False),
        ({"volume": VOLUME}, True, False),
        ({"volume": VOLUME, "cache": {"nodes": 1, "warmup": "none"}}, False, False),
    ],
)
def test_without_a_reporter_the_first_sync_reports_unless_cache_pods_do(
    spec: Any, *, first: bool, refresh: bool
) -> None:
    given = model(source=STORAGE, refresh={"schedule": "0 3 * * *"}, **spec)
    found = lower(given, context(reporter=False))
    configs = {
        each.stem: json.loads(each.body["data"]["config.json"])
        for each in found.unit.manifests
        if each.kind == "ConfigMap"
    }
    assert configs["data-dataset-sync"]["reportPhase"] is first
    assert configs["data-dataset-refresh"]["reportPhase"] is refresh


def test_labels_of_nodes_have_their_form() -> None:
    assert codes(lower(model(cache={"nodes": 1, "nodeSelector": {"a b": "x"}}), context())) == ["SP210"]


def test_a_secret_of_another_namespace_needs_a_grant() -> None:
    volume = {"juicefs": {"secretRef": {"name": "volume", "namespace": "storage"}}}
    assert codes(lower(model(source=S3, volume=volume), context())) == ["SP303"]
    pair = {"specNamespace": "ml", "secretNamespace": "storage"}
    granted = context(policy={"crossNamespaceSecrets": [pair]})
    assert codes(lower(model(source=S3, volume=volume), granted)) == []
    # `juicefs sync` reads the Secret of the volume, a transfer only mounts it.
    storage = {"storage": {"uri": "oss://bucket.example.com/a/"}}
    assert codes(lower(model(source=storage, volume=volume), granted)) == ["SP303"]
    tasks = context(policy={"crossNamespaceSecrets": [pair], "crossNamespaceTasks": True})
    jobs = [each for each in lower(model(source=storage, volume=volume), tasks).unit.manifests if each.kind == "Job"]
    assert [each.namespace for each in jobs] == ["storage"]


def test_transfers_into_a_juicefs_volume_run_as_its_other_tasks() -> None:
    found = lower(model(source=S3), context(juicefs={"taskUser": 0}))
    (job,) = [each.body for each in found.unit.manifests if each.kind == "Job"]
    security = job["spec"]["template"]["spec"]["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["runAsNonRoot"]) == (0, 0, False)


def test_what_a_dataset_shares_with_others() -> None:
    spec = model(source=S3, cache={"nodes": 1, "tiers": [{"path": "/data", "size": "1Gi"}]})
    shared = dialect.relations(spec, context())
    assert shared.caches == (("/data", ("spec", "cache", "tiers", 0, "path")),)
    assert shared.write is not None
    assert (shared.write.volume, shared.write.path, shared.write.writes) == ((True, "ml", "volume"), "ml/data", True)
    shared = dialect.relations(model(volume={"claim": {"template": TEMPLATE}}), context())
    assert (shared.claim, shared.write and shared.write.writes) == ("data", False)
    assert shared.single == ("spec", "volume", "claim", "template", "spec", "accessModes")
    shared = dialect.relations(model(volume={"claim": {"name": "team"}}), context())
    assert shared.named == (("team", ("spec", "volume", "claim", "name")),)


def test_the_platform_says_where_caches_may_be() -> None:
    spec = model(cache={"nodes": 1, "tiers": [{"path": "/data", "size": "1Gi"}]})
    found = lower(spec, context(juicefs={"cacheDirectories": ["/var/caches"]}))
    assert [(each.code, each.path) for each in found.findings] == [("SP458", ("spec", "cache", "tiers", 0, "path"))]
