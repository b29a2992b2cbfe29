"""The datasets that a Training mounts."""

from dataclasses import replace
from typing import Any

import pytest

from stowplan.library.dialects.registry import DIALECTS, lower
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training import datasets
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.meta import SpecId
from tests.unit.specs import VERSION, platform
from tests.unit.trainings import compiled, dataset, env, pod, trainer, training

CACHE = {"nodes": 2, "tiers": [{"path": "/nvme/c4", "size": "1Ti"}]}
SOURCE = {"s3": {"uri": "s3://bucket/c4", "secretRef": {"name": "keys"}}}
CLAIM = {"claim": {"name": "models", "subPath": "llama"}}


def mounted(*names: str, **spec: Any) -> Any:
    given = [{"name": name, "mountPath": f"/data/{name}"} for name in names]
    return training(datasets=given, **spec)


def test_a_dataset_is_mounted_read_only_unless_the_job_writes() -> None:
    for read_only, mount in ((None, {"readOnly": True}), (False, {})):
        given = {"name": "c4", "mountPath": "/data"} | ({} if read_only is None else {"readOnly": read_only})
        result = compiled(training(datasets=[given]), dataset("c4"))
        assert trainer(result)["volumeMounts"] == [{"mountPath": "/data", "name": "c4", **mount}]
        assert env(result)["STOWPLAN_DATASET_C4"] == "/data"


def test_two_datasets_of_one_claim_are_two_mounts_of_one_volume() -> None:
    other = {"claim": {"name": "models", "subPath": "bert"}}
    result = compiled(mounted("llama", "bert"), dataset("llama", volume=CLAIM), dataset("bert", volume=other))
    assert [each["name"] for each in pod(result)["volumes"]] == ["models"]
    assert [each["subPath"] for each in trainer(result)["volumeMounts"]] == ["llama", "bert"]


def test_pods_run_near_the_caches_of_all_their_datasets() -> None:
    near = "preferredDuringSchedulingIgnoredDuringExecution"
    result = compiled(mounted("c4", "pile"), dataset("c4", cache=CACHE), dataset("pile", cache=CACHE))
    assert len(pod(result)["affinity"]["podAffinity"][near]) == 2


def test_pods_must_run_on_cache_nodes_if_the_job_says_so() -> None:
    required = {"stowplan.dev/cache-placement": "required"}
    model = mounted("c4", numNodes=3, annotations=required)
    result = compiled(model, dataset("c4", cache=CACHE))
    (term,) = pod(result)["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"]["stowplan.dev/name"] == "c4"
    assert [(found.code, found.path) for found in result.findings] == [("SP308", ("spec", "datasets", 0, "name"))]


def test_a_dataset_without_a_cache_draws_no_pods() -> None:
    assert "affinity" not in pod(compiled(mounted("c4"), dataset("c4")))


def test_a_dataset_of_another_namespace_is_not_mounted() -> None:
    result = compiled(mounted("c4"), dataset("c4", namespace="data"))
    assert [found.code for found in result.findings] == ["SP306"]
    assert not result.unit.manifests


def test_a_dataset_is_lowered_once_for_itself_and_for_all_jobs_that_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, model, times = DIALECTS["Dataset"].lower, dataset("c4", source=SOURCE), []

    def counted(given: Dataset, context: Context) -> Lowered:
        times.append(given)
        return made(given, context)

    monkeypatch.setattr(datasets, "lower_dataset", counted)
    monkeypatch.setitem(DIALECTS, "Dataset", replace(DIALECTS["Dataset"], lower=counted))
    jobs = [training(name, datasets=[{"name": "c4", "mountPath": "/c4", "wait": {}}]) for name in ("a", "b")]
    for specs in ([*jobs, model], [model, *jobs]):
        times.clear()
        known = {SpecId("Dataset", "ml", "c4"): model}
        together = Context(platform(), VERSION, known)
        results = [lower(each, together).unit for each in specs]
        assert len(times) == 1
        assert results == [lower(each, Context(platform(), VERSION, known)).unit for each in specs]
