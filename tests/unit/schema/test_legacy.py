"""Reading old documents: keys in any case, old versions and devices, and fields only of the old operators."""

import copy
from typing import Any

import pytest

from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.legacy import modernise

GPU, OLD_GPU = "nvidia.com/gpu", "alpha.kubernetes.io/nvidia-gpu"


def document(spec: Any, model: type[CustomResource] = TrainingJob, **fields: Any) -> dict[str, Any]:
    return {"kind": model.__name__, "metadata": {"name": "train"}, "spec": spec, **fields}


def read(spec: Any, model: type[CustomResource] = TrainingJob, **fields: Any) -> tuple[dict[str, Any], list[Finding]]:
    return modernise(model, document(spec, model, **fields))


def summaries(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.code, str(each.path[-1])) for each in found]


@pytest.mark.parametrize(
    ("model", "given", "canonical"),
    [
        (TrainingJob, {"mountPath": "/a"}, {"mountpath": "/a"}),
        (TrainingJob, {"volumeMounts": []}, {"VolumeMounts": []}),
        (TrainingJob, {"podgroupname": "a"}, {"podGroupName": "a"}),
        (TrainingJob, {"Frame_Work": {"TYPE": "local"}}, {"frame_work": {"type": "local"}}),
        (TrainingJob, {"Trainer": {"Min-Instance": 2}}, {"trainer": {"min-instance": 2}}),
        (TrainingJob, {"trainer": {"ImagePullSecrets": []}}, {"trainer": {"imagePullSecrets": []}}),
        (MxJob, {"jobmode": "dist"}, {"jobMode": "dist"}),
        (MxJob, {"replicaSpecs": [{}, {"psRootPort": 1}]}, {"replicaSpecs": [{}, {"PsRootPort": 1}]}),
    ],
)
def test_keys_are_taken_in_any_case(model: type[CustomResource], given: Any, canonical: Any) -> None:
    data, found = read(given, model)
    assert data["spec"] == canonical
    assert {code for code, _ in summaries(found)} == {"SP212"}


@pytest.mark.parametrize(
    "spec",
    [
        {"trainer": {"envs": {"Image": "a", "image": "b"}}},
        {"mountPath": "/a", "mountpath": "/b"},
        {"volumes": [{"emptydir": {}}]},
        {"tra1ner": {}},
        "Trainer",
        None,
    ],
)
def test_other_keys_are_unchanged(spec: Any) -> None:
    """Keys of the user, keys of Kubernetes, and repeated keys."""
    data, found = read(spec)
    assert (data["spec"], found) == (spec, [])


def test_keys_of_kinds_with_a_schema_are_unchanged() -> None:
    data, found = read({"Worker": {}}, PaddleJob)
    assert (data["spec"], found) == ({"Worker": {}}, [])


def test_a_version_that_was_never_served_is_taken() -> None:
    data, found = read({}, apiVersion="paddlepaddle.org/v1")
    assert data["apiVersion"] == "paddlepaddle.org/v1alpha1"
    assert summaries(found) == [("SP212", "apiVersion")]


@pytest.mark.parametrize("version", ["paddlepaddle.org/v1alpha1", "paddlepaddle.org/v2", None, 1])
def test_other_versions_are_unchanged(version: Any) -> None:
    data, found = read({}, apiVersion=version)
    assert (data["apiVersion"], found) == (version, [])


@pytest.mark.parametrize("role", ["master", "pserver", "trainer"])
def test_outputs_of_the_operator_are_dropped(role: str) -> None:
    data, found = read(
        {role: {"replicaSpec": {"a": 1}, "index_succeed": True, "envs": {}}}, status={"phase": "Running"}
    )
    assert data["spec"] == {role: {"envs": {}}}
    assert "status" not in data
    assert sorted(summaries(found)) == [("SP211", "index_succeed"), ("SP211", "replicaSpec"), ("SP211", "status")]


@pytest.mark.parametrize(
    ("spec", "after", "findings"),
    [
        ({"trainer": {"passes": 50}}, {"trainer": {}, "passes": 50}, [("SP212", "passes")]),
        ({"trainer": {"passes": 50}, "passes": 3}, {"trainer": {}, "passes": 3}, [("SP406", "passes")]),
        ({"trainer": {"passes": "many"}}, {"trainer": {}}, [("SP203", "passes")]),
        ({"trainer": {"passes": True}}, {"trainer": {}}, [("SP203", "passes")]),
        ({"passes": 3}, {"passes": 3}, []),
        ({"trainer": 5}, {"trainer": 5}, []),
    ],
)
def test_passes_are_read_from_where_examples_put_them(spec: Any, after: Any, findings: list[tuple[str, str]]) -> None:
    data, found = read(spec)
    assert (data["spec"], summaries(found)) == (after, findings)
    assert all(each.path[:2] == ("spec", "trainer") for each in found)


def resources(**amounts: Any) -> Any:
    return {"trainer": {"resources": {kind: dict(each) for kind, each in amounts.items()}}}


@pytest.mark.parametrize("kind", ["limits", "requests"])
def test_devices_get_their_present_names(kind: str) -> None:
    data, found = read(resources(**{kind: {OLD_GPU: 1, "cpu": 2}}))
    assert data["spec"] == resources(**{kind: {GPU: 1, "cpu": 2}})
    assert summaries(found) == [("SP212", OLD_GPU)]


def test_a_device_by_both_names_is_counted_once() -> None:
    data, found = read(resources(limits={OLD_GPU: 1, GPU: 2}))
    assert data["spec"] == resources(limits={GPU: 2})
    assert summaries(found) == [("SP406", OLD_GPU)]


def test_devices_are_found_in_templates() -> None:
    container = {"name": "mxnet", "resources": {"limits": {OLD_GPU: 1}}}
    data, found = read({"replicaSpecs": [{"template": {"spec": {"containers": [container]}}}]}, MxJob)
    (entry,) = data["spec"]["replicaSpecs"]
    assert entry["template"]["spec"]["containers"][0]["resources"] == {"limits": {GPU: 1}}
    assert summaries(found) == [("SP212", OLD_GPU)]


def test_variables_named_like_a_device_are_unchanged() -> None:
    spec = {"trainer": {"envs": {OLD_GPU: "1"}}}
    assert read(spec)[0]["spec"] == spec


def test_the_given_document_is_not_changed() -> None:
    given = document({"Trainer": {"passes": 5, **resources(limits={OLD_GPU: 1})["trainer"]}}, status={})
    before = copy.deepcopy(given)
    modernise(TrainingJob, given)
    assert given == before


def test_a_device_behind_two_aliases_is_reported_once() -> None:
    limits = {OLD_GPU: 1}
    given = {"trainer": {"resources": {"limits": limits}}, "pserver": {"resources": {"limits": limits}}}
    data, found = read(given)
    assert summaries(found) == [("SP212", OLD_GPU)]
    assert [data["spec"][role]["resources"]["limits"] for role in given] == [{GPU: 1}, {GPU: 1}]
    assert limits == {OLD_GPU: 1}
