"""Outputs of a Training: Jobs of their own, which leave the run as it is."""

from typing import Any

import pytest

from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from tests.unit.trainings import compiled, dataset, training

RUNS = dataset("runs")
MOUNT = {"name": "runs", "mountPath": "/runs", "readOnly": False}


def output(path: str = "/runs/final", claim: str = "archive", **more: Any) -> Json:
    return {"path": path, "to": {"claim": {"name": claim}}, **more}


def result(*outputs: Json, nodes: int = 1, **platform: Any) -> Lowered:
    return compiled(training(datasets=[MOUNT], outputs=list(outputs), numNodes=nodes), RUNS, **platform)


def copiers(lowered: Lowered) -> list[Json]:
    bodies = (each.body for each in lowered.unit.manifests if each.kind == "Job")
    return [each for each in bodies if labels.OUTPUT in each["metadata"]["labels"]]


def names(lowered: Lowered) -> list[str]:
    return [str(each["metadata"]["name"]) for each in copiers(lowered)]


def run(lowered: Lowered) -> str:
    return next(
        each.name
        for each in lowered.unit.manifests
        if each.kind in ("Job", "JobSet") and labels.OUTPUT not in each.body["metadata"]["labels"]
    )


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_another_place_is_another_copy_of_the_same_run(jobs: str) -> None:
    before = result(output(), output("/runs/logs"), engines={"jobs": jobs})
    after = result(output(claim="elsewhere"), output("/runs/logs"), engines={"jobs": jobs})
    assert run(before) == run(after) == run(result(engines={"jobs": jobs}))
    assert names(before)[0] != names(after)[0]
    assert names(before)[1] == names(after)[1]


@pytest.mark.parametrize("change", [{"path": "/runs/logs"}, {"when": "always"}])
def test_another_path_or_condition_is_another_copy(change: Json) -> None:
    assert names(result(output())) != names(result({**output(), **change}))


def test_another_run_is_another_copy() -> None:
    assert names(result(output())) != names(result(output(), nodes=2))


@pytest.mark.parametrize("gang", ["kueue", "volcano", "coscheduling"])
def test_a_copy_never_waits_in_a_queue(gang: str) -> None:
    (job,) = copiers(result(output(), nodes=2, engines={"gang": gang, "queue": "team"}))
    template = job["spec"]["template"]
    found = {*job["metadata"]["labels"], *template["metadata"]["labels"], *template["metadata"].get("annotations", {})}
    assert not [each for each in found if "kueue" in each or "volcano" in each or "pod-group" in each]
    assert "suspend" not in job["spec"]
    assert "schedulerName" not in template["spec"]


def test_a_suspended_run_does_not_suspend_the_copy_which_waits_for_it() -> None:
    (job,) = copiers(compiled(training(datasets=[MOUNT], outputs=[output()], suspend=True), RUNS))
    assert "suspend" not in job["spec"]


def test_only_the_container_that_waits_has_a_token() -> None:
    (job,) = copiers(result(output()))
    spec = job["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    tokens = [each["name"] for each in spec["volumes"] if "projected" in each]
    (copies,), (waits,) = spec["containers"], spec["initContainers"]
    assert [each["name"] for each in waits["volumeMounts"] if each["name"] in tokens] == tokens
    assert not [each for each in copies["volumeMounts"] if each["name"] in tokens]


def test_a_claim_for_one_node_keeps_the_copy_on_the_node_of_the_trainer() -> None:
    claim = {"template": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}}}}
    lowered = compiled(training(datasets=[MOUNT], outputs=[output()]), dataset("runs", volume={"claim": claim}))
    (job,) = copiers(lowered)
    (term,) = job["spec"]["template"]["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["labelSelector"]["matchLabels"][labels.RUN_HASH] == run(lowered)[-8:]
    assert [each.code for each in lowered.findings if each.code.startswith("SP73")] == []


def test_a_claim_that_several_trainers_mount_can_be_mounted_by_the_copy() -> None:
    lowered = compiled(
        training(datasets=[MOUNT], outputs=[output()], numNodes=2), dataset("runs", volume={"claim": {"name": "nfs"}})
    )
    (job,) = copiers(lowered)
    assert "affinity" not in job["spec"]["template"]["spec"]
    assert [each.code for each in lowered.findings if each.code.startswith("SP73")] == []


GROUP = {"spec": {"securityContext": {"runAsUser": 1000, "fsGroup": 2000}}}
NONE: Json = {"spec": {}}
S3 = {"s3": {"uri": "s3://models/final/", "secretRef": {"name": "models"}}}


def test_the_pod_of_a_copy_gives_the_files_to_the_group_of_the_trainer() -> None:
    """On one node the first pod that mounts a local volume decides for all."""
    (job,) = copiers(
        compiled(training(datasets=[MOUNT], outputs=[{"path": "/runs/final", "to": S3}], template=GROUP), RUNS)
    )
    pod = job["spec"]["template"]["spec"]
    (volume,) = (each for each in pod["volumes"] if "persistentVolumeClaim" in each)
    (mount,) = (each for each in pod["containers"][0]["volumeMounts"] if each["name"] == volume["name"])
    assert pod["securityContext"]["fsGroup"] == 2000
    assert volume["persistentVolumeClaim"] == {"claimName": "runs"}
    assert mount["readOnly"] is True


@pytest.mark.parametrize(
    ("to", "template", "group"),
    [(S3, NONE, None), ({"claim": {"name": "archive"}}, NONE, 65532), ({"claim": {"name": "archive"}}, GROUP, 65532)],
)
def test_without_a_group_of_the_trainer_or_with_one_of_its_own_the_pod_of_a_copy_only_reads(
    to: Json, template: Json, group: int | None
) -> None:
    model = training(datasets=[MOUNT], outputs=[{"path": "/runs/final", "to": to}], template=template)
    (job,) = copiers(compiled(model, RUNS))
    pod = job["spec"]["template"]["spec"]
    assert pod["securityContext"].get("fsGroup") == group
    claims = [each["persistentVolumeClaim"] for each in pod["volumes"] if "persistentVolumeClaim" in each]
    assert {"claimName": "runs", "readOnly": True} in claims
