"""A lowered SampleSet: its objects and its diagnostics."""

from typing import Any

import pytest

from stowplan.library.manifest import ExternalReference
from stowplan.schema.agents.cache_config import RuntimeConfig
from tests.unit.specs import URI, body, codes, lowered, of_kind, sample_set

SYNCED: dict[str, Any] = {"source": {"uri": URI}}
VOLUME = ExternalReference("Secret", "ml", "volume", ("bucket", "metaurl", "name", "storage"))


def kinds(**spec: Any) -> list[str]:
    return sorted(manifest.kind for manifest in lowered(sample_set(**spec)).unit.manifests)


def jobs(
    *, platform: dict[str, Any] | None = None, annotations: dict[str, str] | None = None, **spec: Any
) -> list[str]:
    model = sample_set(annotations=annotations, **{**SYNCED, **spec})
    return [manifest.name for manifest in of_kind(lowered(model, **(platform or {})), "Job")]


def test_objects_of_an_existing_dataset() -> None:
    assert kinds(noSync=True) == sorted(
        "SampleSet ServiceAccount Role RoleBinding NetworkPolicy PersistentVolume PersistentVolumeClaim ConfigMap"
        " Service StatefulSet PodDisruptionBudget".split()
    )


def test_a_source_adds_a_sync_and_a_warmup_for_each_partition() -> None:
    assert [name.rpartition("-")[0] for name in jobs(partitions=2)] == ["data-sync", "data-warmup-0", "data-warmup-1"]


def test_no_sync_adds_neither() -> None:
    assert jobs(noSync=True) == []


def test_platform_leaves_the_warmup_out() -> None:
    names = jobs(platform={"juicefs": {"warmupAfterSync": False}})
    assert [name.rpartition("-")[0] for name in names] == ["data-sync"]


@pytest.mark.parametrize(
    "change",
    [
        {"cache": {"levels": [{"path": "/a", "cacheSize": 1}]}},
        {"csi": {"juiceFSMountOptions": {"attr-cache": 5}}},
        {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
    ],
)
def test_an_edit_that_concerns_no_job_starts_none(change: dict[str, Any]) -> None:
    assert jobs(**change) == jobs()


@pytest.mark.parametrize(
    "change",
    [
        {"source": {"uri": f"{URI}more/"}},
        {"source": {"uri": URI, "secretRef": {"name": "source"}}},
        {"secretRef": {"name": "another"}},
        {"partitions": 2},
        {"csi": {"juiceFSMountOptions": {"sub-dir": "a"}}},
        {"tolerations": [{"operator": "Exists"}]},
    ],
)
def test_an_edit_of_one_job_starts_all(change: dict[str, Any]) -> None:
    assert not set(jobs(**change)) & set(jobs())


def test_the_run_annotation_starts_all() -> None:
    assert not set(jobs(annotations={"stowplan.dev/run": "2"})) & set(jobs(annotations={"stowplan.dev/run": "1"}))


def test_deadline_and_policy_keep_the_jobs() -> None:
    assert jobs(platform={"juicefs": {"taskDeadlineSeconds": 60}}) == jobs()
    assert jobs(platform={"policy": {"rerun": "error"}}) == jobs()


def test_pods_do_not_hold_the_names_of_their_jobs() -> None:
    """A name contains the hash of the template, so the template cannot contain the name."""
    for manifest in of_kind(lowered(sample_set(**SYNCED)), "Job"):
        assert manifest.name.rpartition("-")[2] not in str(manifest.body["spec"])


def test_warmup_waits_for_the_sync() -> None:
    (warmup,) = [each for each in of_kind(lowered(sample_set(**SYNCED)), "ConfigMap") if "warmup" in each.stem]
    assert '"after": "data-sync"' in warmup.body["data"]["config.json"]


@pytest.mark.parametrize(
    ("spec", "platform", "steps"),
    [
        (SYNCED, {}, (True, True)),
        (SYNCED, {"juicefs": {"warmupAfterSync": False}}, (True, False)),
        ({**SYNCED, "csi": {"juiceFSMountOptions": {"read-only": True}}}, {}, (True, False)),
        ({**SYNCED, "warmupAfterSync": False}, {}, (True, False)),
        ({**SYNCED, "warmupAfterSync": True}, {"juicefs": {"warmupAfterSync": False}}, (True, True)),
        ({"noSync": True, "warmupAfterSync": True}, {}, (False, False)),
    ],
    ids=["both", "left out by the platform", "read-only", "left out", "asked for", "neither"],
)
def test_cache_agent_knows_which_steps_fill_the_dataset(
    spec: dict[str, Any], platform: dict[str, Any], steps: tuple[bool, bool]
) -> None:
    result = lowered(sample_set(**spec), **platform)
    (runtime,) = [each for each in of_kind(result, "ConfigMap") if "runtime" in each.stem]
    read = RuntimeConfig.model_validate_json(runtime.body["data"]["config.json"])
    assert (read.synced, read.warmed) == steps
    assert len(of_kind(result, "Job")) == sum(steps)


def test_only_the_sync_has_the_secret_of_the_volume() -> None:
    """`envs` may contain the password of the metadata engine; tasks on the mount do not need it."""
    pods = [each.body["spec"]["template"]["spec"] for each in of_kind(lowered(sample_set(**SYNCED)), "Job")]
    sync, warmup = [{each["name"]: each for each in pod["containers"][0]["env"]} for pod in pods]
    reference = {"name": "volume", "key": "envs", "optional": True}
    assert sync["STOWPLAN_VOLUME_ENVS"]["valueFrom"]["secretKeyRef"] == reference
    assert [name for name in warmup if name.startswith("STOWPLAN_VOLUME")] == []


def test_probes_ask_the_agent_itself() -> None:
    pod = body(lowered(sample_set()), "StatefulSet")["spec"]["template"]["spec"]
    probes = {key: value["exec"]["command"] for key, value in pod["containers"][0].items() if key.endswith("Probe")}
    agent = ["python", "-m", "stowplan.agents.cache"]
    assert probes == {"livenessProbe": [*agent, "alive"], "readinessProbe": [*agent, "ready"]}


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"partitions": None}, "SP404"),
        ({"secretRef": None}, "SP401"),
        ({"secretRef": {"namespace": "ml"}}, "SP401"),
        ({"noSync": False}, "SP403"),
        ({"noSync": None, "source": {"secretRef": {"name": "source"}}}, "SP403"),
        ({"source": {"uri": "s4://bucket/a"}}, "SP402"),
        ({"source": {"uri": URI}, "secretRef": {"name": "volume", "namespace": "storage"}}, "SP303"),
        ({"csi": {"juiceFSMountOptions": {"free-space-ratio": "2"}}}, "SP205"),
    ],
)
def test_a_spec_that_cannot_work_has_no_objects(spec: dict[str, Any], code: str) -> None:
    result = lowered(sample_set(**spec))
    assert code in codes(result)
    assert result.unit.manifests == ()


def test_a_name_that_its_pods_could_not_carry() -> None:
    assert "SP504" not in codes(lowered(sample_set("a" * 44)))
    assert "SP504" in codes(lowered(sample_set("a" * 45)))


def test_a_warmup_on_a_read_only_mount_is_reported() -> None:
    spec = {**SYNCED, "csi": {"juiceFSMountOptions": {"read-only": True}}}
    assert "SP406" in codes(lowered(sample_set(**spec, warmupAfterSync=True)))
    assert "SP406" not in codes(lowered(sample_set(**spec, warmupAfterSync=False)))


def test_a_dataset_without_a_sync_may_be_warmed_after_a_sync_of_a_sample_job() -> None:
    assert "SP406" not in codes(lowered(sample_set(noSync=True, warmupAfterSync=True)))


def test_a_source_that_is_not_used() -> None:
    assert "SP406" in codes(lowered(sample_set(noSync=True, **SYNCED)))


@pytest.mark.parametrize(
    ("spec", "externals"),
    [
        ({"noSync": True}, (VOLUME,)),
        (SYNCED, (VOLUME,)),
        (
            {"source": {"uri": URI, "secretRef": {"name": "source"}}},
            (ExternalReference("Secret", "ml", "source"), VOLUME),
        ),
    ],
)
def test_external_references(spec: dict[str, Any], externals: tuple[ExternalReference, ...]) -> None:
    assert lowered(sample_set(**spec)).unit.externals == externals


def test_upstream_names_keep_what_cannot_be_changed() -> None:
    result = lowered(sample_set(), names="upstream")
    legacy = {"paddlepaddle.org/juicefs-data": "true"}
    assert body(result, "PersistentVolume")["metadata"]["name"] == "data"
    assert body(result, "PersistentVolume")["spec"]["csi"]["volumeHandle"] == "ml-data"
    claim = body(result, "PersistentVolumeClaim")["spec"]
    assert (claim["storageClassName"], claim["selector"]) == ("paddle-operator", {"matchLabels": legacy})
    runtime = body(result, "StatefulSet")["spec"]
    assert runtime["podManagementPolicy"] == "OrderedReady"
    assert runtime["selector"] == {"matchLabels": {**legacy, "name": "data-runtime"}}


def test_cache_pods_are_one_on_a_node() -> None:
    spec = body(lowered(sample_set(tolerations=[{"operator": "Exists"}])), "StatefulSet")["spec"]["template"]["spec"]
    (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert spec["tolerations"] == [{"operator": "Exists"}]
