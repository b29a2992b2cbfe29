"""The construct that holds the manifests of a spec."""

from typing import Any

import pytest
from cdk8s import App, Chart, JsonPatch

from stowplan.library.constructs import ManifestSet
from tests.unit.library.constructs.units import body, unit


def manifest_set(*bodies: dict[str, Any], **chart: Any) -> ManifestSet:
    return ManifestSet(Chart(App(), "chart", **chart), "flowers", unit=unit(*bodies))


BODIES = {
    "no fields": body("ServiceAccount"),
    "a field that is no map": body("ServiceAccount", automountServiceAccountToken=False),
    "several fields": body("RoleBinding", apiVersion="rbac.authorization.k8s.io/v1", roleRef={}, subjects=[]),
    "empty values": body(spec={"storageClassName": "", "emptyDir": {}, "ports": []}),
    "no namespace": body("PersistentVolume", "flowers", ""),
    "annotations with slashes": body(metadata={"annotations": {"a.io/b": "", "a~b": "~1"}}),
    "finalizers": body(metadata={"finalizers": ["example.com/keep"]}),
    "empty metadata": body(metadata={"labels": {}, "annotations": {}, "finalizers": []}),
    "owners": body(metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}]}),
    "a label that JavaScript knows": body(metadata={"labels": {"constructor": "Ford", "value": "T"}}),
    "a field with a slash": body(**{"a/b~c": 1}),
}


@pytest.mark.parametrize("manifest", BODIES.values(), ids=BODIES)
def test_an_object_renders_as_its_manifest(manifest: dict[str, Any]) -> None:
    (made,) = manifest_set(manifest).objects.values()
    assert made.to_json() == manifest


def test_objects_are_found_by_kind_and_name() -> None:
    made = manifest_set(body("Service", "a"), body("Service", "b"), body("Service", "a", "other"))
    assert list(made.objects) == [("Service", "a"), ("Service", "b"), ("Service", "other/a")]
    assert made.object("Service", "other/a").metadata.namespace == "other"


def test_ids_are_kind_and_stem_and_tell_foreign_namespaces_apart() -> None:
    made = manifest_set(body("Service", "a"), body("PersistentVolume", "vision.a", ""), body("Service", "a", "other"))
    assert [each.node.path for each in made.objects.values()] == [
        "chart/flowers/service-a",
        "chart/flowers/persistentvolume-vision.a",
        "chart/flowers/service-a@other",
    ]


def test_a_missing_object_is_answered_with_the_nearest_one() -> None:
    made = manifest_set(body("StatefulSet", "flowers-runtime"), body("Service", "flowers-runtime-service"))
    with pytest.raises(
        LookupError, match=r'has no StatefulSet flowers-run\. Did you mean "StatefulSet flowers-runtime"'
    ):
        made.object("StatefulSet", "flowers-run")


def test_the_chart_s_namespace_replaces_none() -> None:
    made = manifest_set(body("PersistentVolume", "flowers", ""), body("Service"), namespace="mine")
    assert [each.to_json()["metadata"].get("namespace") for each in made.objects.values()] == [None, "vision"]


def test_the_chart_s_labels_are_added() -> None:
    made = manifest_set(body(metadata={"labels": {"a": "1"}}), body("Service"), labels={"team": "x"})
    assert [each.to_json()["metadata"]["labels"] for each in made.objects.values()] == [
        {"a": "1", "team": "x"},
        {"team": "x"},
    ]


def test_patches_and_labels_of_the_user_come_last() -> None:
    made = manifest_set(body("Job", spec={"parallelism": 1}, metadata={"labels": {"a": "1"}})).object("Job", "flowers")
    made.metadata.add_label("b", "2")
    made.add_json_patch(JsonPatch.replace("/spec/parallelism", 3))
    assert made.to_json() == body("Job", spec={"parallelism": 3}, metadata={"labels": {"a": "1", "b": "2"}})
