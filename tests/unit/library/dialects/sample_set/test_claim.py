"""Datasets in plain claims: their objects and mounts, and the conversion of every old SampleSet."""

from typing import Any

import pytest
import yaml

from stowplan.library.builders.gate import is_gate
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import ExternalReference, Json
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.kinds.sample_set import SampleSet
from tests.repositories import CASES
from tests.unit.specs import API_VERSION, URI, body, codes, context, lowered, of_kind, paddle_job, role, sample_job

TEMPLATE = {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}}
SYNC: dict[str, Any] = {"type": "sync", "syncOptions": {"source": URI}}


def claim(name: str = "data", *, claim: dict[str, Any] | None = None, **spec: Any) -> SampleSet:
    given = {"csi": {"driver": "pvc", **({"claim": claim} if claim else {})}, **spec}
    if "source" not in given:
        given["noSync"] = True
    metadata = {"name": name, "namespace": "ml"}
    return SampleSet.model_validate(
        {"apiVersion": API_VERSION, "kind": "SampleSet", "metadata": metadata, "spec": given}
    )


def configuration(result: Lowered) -> TransferConfig:
    return TransferConfig.model_validate_json(body(result, "ConfigMap")["data"]["config.json"])


def kinds(result: Lowered) -> list[str]:
    return sorted(each.kind for each in result.unit.manifests)


def test_a_claim_that_holds_the_samples_needs_nothing_but_the_resource() -> None:
    result = lowered(claim())
    assert (kinds(result), codes(result)) == (["SampleSet"], [])
    assert result.unit.externals == (ExternalReference("PersistentVolumeClaim", "ml", "data"),)


def test_a_claim_that_is_made_and_filled() -> None:
    result = lowered(
        claim(claim={"name": "team.samples", "subPath": "a//b/", "template": TEMPLATE}, source={"uri": URI})
    )
    access = "ServiceAccount Role RoleBinding NetworkPolicy".split()
    assert kinds(result) == sorted(["SampleSet", "PersistentVolumeClaim", "ConfigMap", "Job", *access])
    config = configuration(result)
    assert config.state
    assert (config.sink.type, config.sink.model_dump()["path"]) == ("pvc", "a/b")
    assert (config.state.dataset, config.state.lock) == ("a/b", "a/b/.stowplan/lock")
    volumes = body(result, "Job")["spec"]["template"]["spec"]["volumes"]
    assert {"name": "dataset", "persistentVolumeClaim": {"claimName": "team.samples"}} in volumes
    assert result.unit.externals == ()


@pytest.mark.parametrize(
    ("spec", "secret"),
    [
        ({"source": {"uri": URI, "secretRef": {"name": "bucket"}}}, "bucket"),
        ({"source": {"uri": URI}, "secretRef": {"name": "shared"}}, "shared"),
        ({"source": {"uri": URI}}, None),
    ],
)
def test_a_secret_has_both_keys_and_a_public_bucket_has_none(spec: dict[str, Any], secret: str | None) -> None:
    result = lowered(claim(claim={"template": TEMPLATE}, **spec))
    source = configuration(result).source.model_dump()
    assert source["anonymous"] is (secret is None)
    assert (source["accessKeyIdEnv"] is None) == (secret is None)
    keys = ("access-key", "secret-key")
    assert result.unit.externals == ((ExternalReference("Secret", "ml", secret, keys),) if secret else ())


def test_a_sync_runs_in_the_namespace_of_the_claim() -> None:
    spec: dict[str, Any] = {"source": {"uri": URI, "secretRef": {"name": "bucket", "namespace": "vault"}}}
    assert codes(lowered(claim(**spec), policy={"crossNamespaceTasks": True})) == ["SP303"]


@pytest.mark.parametrize("until", [None, "warmed"])
def test_pods_mount_the_directory_and_run_anywhere(until: str | None) -> None:
    wait = {"until": until} if until else {}
    reference = {"name": "data", "mountPath": "/data", "wait": wait}
    data = claim(claim={"name": "team.samples", "subPath": "a/b"}, source={"uri": URI})
    job = paddle_job(worker=role(2), sampleSetRef=reference)
    result = lower(job, context(data, juicefs={"placement": "required"}))
    assert codes(result) == (["SP454"] if until else [])
    (job_manifest,) = [each for each in of_kind(result, "Job") if not is_gate(each.body)]
    spec = job_manifest.body["spec"]["template"]["spec"]
    assert spec["volumes"] == [{"name": "team-samples", "persistentVolumeClaim": {"claimName": "team.samples"}}]
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert mount == {"mountPath": "/data", "name": "team-samples", "subPath": "a/b"}
    waiting, _ = spec["initContainers"]
    assert (waiting["volumeMounts"][0]["subPath"], waiting["args"][3]) == ("a/b", "/mnt/data")
    assert not {"affinity", "topologySpreadConstraints"} & set(spec)


@pytest.mark.parametrize(
    ("data", "completes"),
    [(claim(claim={"subPath": "a"}), "a"), (claim(claim={"subPath": "a"}, source={"uri": URI}), None)],
    ids=["alone", "on top"],
)
def test_a_sample_job_fills_a_directory(data: SampleSet, completes: str | None) -> None:
    options = {"source": URI, "destination": "/b/./c/", "delete-dst": True, "threads": 500}
    result = lower(sample_job(type="sync", syncOptions=options), context(data))
    config = configuration(result)
    assert (codes(result), config.sink.model_dump()["path"], config.parallelism) == ([], "a/b/c", 256)
    assert config.mirror
    assert config.state
    assert (config.state.directory, config.state.dataset) == ("a/.stowplan/samplejobs/work", completes)


def test_a_small_memory_limit_is_no_crash() -> None:
    tiny = {"cpu": "1", "memory": "16Mi"}
    result = lowered(claim(source={"uri": URI}), resources={"task": {"requests": tiny, "limits": tiny}})
    assert configuration(result).memory_mib == 64


def test_a_scheduled_sync_has_a_deadline() -> None:
    result = lower(sample_job(**SYNC, schedule="@daily"), context(claim()))
    job = body(result, "CronJob")["spec"]["jobTemplate"]["spec"]
    assert (job["activeDeadlineSeconds"], configuration(result).soft_deadline_seconds) == (86400, 86370)
    assert body(lower(sample_job(**SYNC, terminate=True), context(claim())), "Job")["spec"]["suspend"] is True


@pytest.mark.parametrize("task", ["warmup", "clear", "rmr"])
def test_tasks_that_need_a_cache_or_juicefs(task: str) -> None:
    options: dict[str, Any] = {"rmrOptions": {"paths": ["a"]}} if task == "rmr" else {}
    result = lower(sample_job(type=task, **options), context(claim()))
    assert (codes(result), result.unit.manifests) == (["SP455"], ())


def old_sets() -> list[Json]:
    """Return every SampleSet of the cases, as compiled: those of the snapshots."""
    texts = [path.with_suffix(".out.yaml").read_text() for path in CASES.values()]
    found = [part for text in texts for part in text.split("---\n") if "\nkind: SampleSet\n" in part]
    return [yaml.load(part, yaml.CSafeLoader) for part in found]


def test_every_old_dataset_can_become_a_claim() -> None:
    """Fields of JuiceFS and of caches have no effect. The output is valid, or the source is not S3."""
    sets = old_sets()
    assert len(sets) > 50
    for old in sets:
        spec = {**old["spec"], "csi": {**old["spec"].get("csi", {}), "driver": "pvc"}}
        result = lowered(SampleSet.model_validate({**old, "spec": spec}))
        assert set(codes(result)) <= {"SP402", "SP406", "SP411", "SP303"}
        if not {"SP402", "SP303"} & set(codes(result)):
            assert "StatefulSet" not in kinds(result)
            for config in of_kind(result, "ConfigMap"):
                TransferConfig.model_validate_json(config.body["data"]["config.json"])
