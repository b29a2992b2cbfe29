"""The claim and the lineage of a Training's checkpoints, and the sidecar that holds the lineage."""

from typing import Any

import pytest

from stowplan.library.builders.pods import lineage_container
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json
from tests.unit.specs import VERSION, platform
from tests.unit.trainings import compiled, dataset, training, workload

ENGINES = [("core", "none"), ("jobset", "none"), ("core", "volcano"), ("jobset", "coscheduling"), ("core", "kueue")]
NEW = {"template": {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}}}
KEPT = {"claim": {"name": "models"}}


def pod(name: str = "train", *datasets: Any, jobs: str = "core", gang: str = "none", **spec: Any) -> Json:
    found = workload(compiled(training(name, **spec), *datasets, engines={"jobs": jobs, "gang": gang}))["spec"]
    job = found["replicatedJobs"][0]["template"]["spec"] if "replicatedJobs" in found else found
    made: Json = job["template"]["spec"]
    return made


def sidecar(spec: Json) -> Json:
    found: list[Json] = [each for each in spec["initContainers"] if lineage_container.is_ours(each)]
    assert len(found) == 1
    return found[0]


def directory(spec: Json) -> str | None:
    return {each["name"]: each.get("value") for each in spec["containers"][0]["env"]}.get("STOWPLAN_CHECKPOINT_DIR")


def name(**spec: Any) -> str:
    return str(workload(compiled(training(**spec)))["metadata"]["name"])


@pytest.mark.parametrize(("jobs", "gang"), ENGINES)
@pytest.mark.parametrize("elastic", [{}, {"elastic": {"min": 1, "max": 4}}], ids=["fixed", "elastic"])
def test_the_directory_is_that_of_the_lineage_with_every_engine(jobs: str, gang: str, elastic: Any) -> None:
    spec = pod(
        checkpoints=KEPT,
        numNodes=2,
        jobs=jobs,
        gang=gang,
        scheduling={"queue": "a"} if gang == "kueue" else None,
        **elastic,
    )
    assert directory(spec) == "/checkpoints/ml/train"
    assert [each["name"] for each in spec["initContainers"]][-1] == "hold-lineage"
    mounts = [each["mountPath"] for each in spec["containers"][0]["volumeMounts"]]
    assert mounts == ["/checkpoints"]


def test_a_run_has_the_directory_of_its_lineage_whatever_its_image() -> None:
    own = {**KEPT, "mountPath": "/ckpt/", "lineage": "sft"}
    before, after = pod(checkpoints=own), pod(checkpoints=own, image="registry.example.com/ml/train:2")
    assert directory(before) == directory(after) == "/ckpt/sft"
    assert sidecar(before)["args"] != sidecar(after)["args"]


def test_a_job_without_checkpoints_has_neither_variable_nor_sidecar() -> None:
    spec = pod()
    assert directory(spec) is None
    assert "initContainers" not in spec


def test_a_new_claim_is_never_pruned() -> None:
    result = compiled(training(checkpoints={"claim": NEW}))
    (claim,) = [each.body for each in result.unit.manifests if each.kind == "PersistentVolumeClaim"]
    assert claim["metadata"]["name"] == "train-checkpoints"
    assert claim["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"


def test_a_claim_that_exists_is_not_written_but_must_exist() -> None:
    unit = compiled(training(checkpoints=KEPT)).unit
    assert "PersistentVolumeClaim" not in {each.kind for each in unit.manifests}
    assert ("PersistentVolumeClaim", "ml", "models") in {each[:3] for each in unit.externals}


def test_the_sidecar_comes_before_the_init_containers_of_the_user() -> None:
    own = {"spec": {"initContainers": [{"name": "look", "image": "registry.example.com/ml/train:1"}]}}
    spec = pod(checkpoints=KEPT, numNodes=2, template=own)
    assert [each["name"] for each in spec["initContainers"]] == ["wait-peers", "hold-lineage", "look"]


def test_the_sidecar_reads_the_markers_of_the_datasets() -> None:
    claim = {"claim": {"name": "data", "subPath": "c4"}}
    spec = pod("train", dataset("c4", volume=claim), checkpoints=KEPT, datasets=[{"name": "c4", "mountPath": "/data"}])
    (_, mount) = sidecar(spec)["volumeMounts"]
    place = {"mountPath": "/mnt/c4", "name": "data", "subPath": "c4", "readOnly": True}
    assert mount == place
    assert sidecar(spec)["args"][-1] == "c4=/mnt/c4"


@pytest.mark.parametrize(
    ("context", "user", "root"),
    [
        ({}, 65532, False),
        ({"runAsUser": 1000}, 1000, False),
        ({"runAsUser": 1000, "runAsGroup": 5}, 1000, False),
        ({"runAsUser": 0}, 0, True),
        ({"runAsNonRoot": False}, 0, True),
    ],
)
@pytest.mark.parametrize("level", ["pod", "trainer"])
def test_the_sidecar_has_the_user_of_the_trainer(*, level: str, context: Any, user: int, root: bool) -> None:
    trainer = {"containers": [{"name": "trainer", "securityContext": context}]}
    template = {"spec": {"securityContext": context} if level == "pod" else trainer}
    security = sidecar(pod(checkpoints=KEPT, template=template))["securityContext"]
    assert (security["runAsUser"], security["runAsNonRoot"]) == (user, not root)
    assert security["runAsGroup"] == context.get("runAsGroup", user)
    assert security["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("change", [{"suspend": True}, {"checkpoints": {**KEPT, "shareLineage": True}}])
def test_what_does_not_change_the_pods_starts_no_run(change: dict[str, Any]) -> None:
    assert name(**{"checkpoints": KEPT, **change}) == name(checkpoints=KEPT)


@pytest.mark.parametrize("change", [{"lineage": "other"}, {"mountPath": "/other"}, {"claim": {"name": "other"}}])
def test_other_checkpoints_are_another_run(change: dict[str, Any]) -> None:
    assert name(checkpoints={**KEPT, **change}) != name(checkpoints=KEPT)


def test_an_elastic_job_with_checkpoints_grows_in_place() -> None:
    sizes = {"elastic": {"min": 1, "max": 4}, "checkpoints": KEPT}
    assert name(numNodes=2, **sizes) == name(numNodes=3, **sizes)


def test_relations_are_the_lineage_the_directory_and_the_claim() -> None:
    model = training(numNodes=2, checkpoints={**KEPT, "lineage": "sft", "shareLineage": True})
    found = DIALECTS["Training"].relations(model, Context(platform(), VERSION))
    assert found.lineage is not None
    assert (found.lineage.name, found.lineage.shared) == ("sft", True)
    assert found.write is not None
    assert (found.write.claim, found.write.path) == ("models", "sft")
    assert [(each.claim, each.pods, each.code) for each in found.mounted] == [("models", 2, "SP722")]
