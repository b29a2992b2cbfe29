"""Objects in the chart of a spec."""

from dataclasses import replace
from typing import Any

import pytest
from cdk8s import App, JsonPatch

from stowplan.library.constructs import SpecChart
from stowplan.library.manifest import Manifest
from stowplan.library.values import labels
from tests.unit.library.constructs.units import SPEC, body, seen, unit


def spec_chart(*bodies: dict[str, Any]) -> SpecChart:
    return SpecChart(App(), "flowers", unit=unit(*bodies))


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
    (made,) = spec_chart(manifest).objects.values()
    assert [made.to_json()] == seen(unit(manifest))


def test_objects_are_found_by_kind_and_name() -> None:
    made = spec_chart(body("Service", "a"), body("Service", "b"), body("Service", "a", "other"))
    assert list(made.objects) == [("Service", "a"), ("Service", "b"), ("Service", "other/a")]
    assert made.object("Service", "other/a").metadata.namespace == "other"


def test_ids_are_kind_and_stem_and_tell_foreign_namespaces_apart() -> None:
    made = spec_chart(body("Service", "a"), body("PersistentVolume", "vision.a", ""), body("Service", "a", "other"))
    assert [each.node.path for each in made.objects.values()] == [
        "flowers/part/service-a",
        "flowers/part/service-a@other",
        "flowers/cluster/part/persistentvolume-vision.a",
    ]


def test_a_missing_object_is_answered_with_the_nearest_one() -> None:
    made = spec_chart(body("StatefulSet", "flowers-runtime"), body("Service", "flowers-runtime-service"))
    with pytest.raises(
        LookupError, match=r'has no StatefulSet flowers-run\. Did you mean "StatefulSet flowers-runtime"'
    ):
        made.object("StatefulSet", "flowers-run")


def test_the_chart_gives_the_namespace_to_what_names_none() -> None:
    bare = {**body("Service"), "metadata": {"name": "bare"}}
    one = unit(body("PersistentVolume", "flowers", ""), body("Service"), body("Service", "a", "other"))
    (part,) = one.parts
    one = replace(one, parts=(replace(part, own=(*part.own, Manifest(bare, "bare"))),))
    made = SpecChart(App(), "flowers", unit=one).objects
    namespaces = {name: each.to_json()["metadata"].get("namespace") for (_, name), each in made.items()}
    assert namespaces == {"flowers": None, "other/a": "other", "bare": "vision"}


def test_the_chart_gives_the_labels_of_the_spec() -> None:
    made = spec_chart(body(metadata={"labels": {"a": "1", labels.NAME: "own"}}), body("PersistentVolume", "b", ""))
    of_spec = labels.of_spec(SPEC)
    assert [each.to_json()["metadata"]["labels"] for each in made.objects.values()] == [
        {**of_spec, "a": "1", labels.NAME: "own"},
        of_spec,
    ]


def test_patches_and_labels_of_the_user_come_last() -> None:
    made = spec_chart(body("Job", spec={"parallelism": 1}, metadata={"labels": {"a": "1"}})).object("Job", "flowers")
    made.metadata.add_label("b", "2")
    made.add_json_patch(JsonPatch.replace("/spec/parallelism", 3))
    (expected,) = seen(unit(body("Job", spec={"parallelism": 3}, metadata={"labels": {"a": "1", "b": "2"}})))
    assert made.to_json() == expected
