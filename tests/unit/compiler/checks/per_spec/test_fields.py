"""Fields that belong to the cluster, to Argo CD or to a controller."""

from typing import Any

import pytest

from stowplan.compiler.checks.per_spec import cluster_fields, ownership
from stowplan.library.manifest import Json
from tests.unit.compiler.checks.given import (
    body,
    changed,
    config_map,
    definition,
    fields,
    job,
    objects,
    service,
    volume,
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("status", {}),
        ("metadata.creationTimestamp", "2026-01-01T00:00:00Z"),
        ("metadata.deletionTimestamp", "2026-01-01T00:00:00Z"),
        ("metadata.deletionGracePeriodSeconds", 0),
        ("metadata.generation", 1),
        ("metadata.managedFields", []),
        ("metadata.ownerReferences", []),
        ("metadata.resourceVersion", "1"),
        ("metadata.selfLink", "/api"),
        ("metadata.uid", "1"),
    ],
)
def test_a_field_that_only_the_cluster_sets(path: str, value: Any) -> None:
    assert fields(cluster_fields.check(objects(changed(job(), path, value)))) == [("SP531", path)]


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ("annotations", "argocd.argoproj.io/tracking-id"),
        ("annotations", "argocd.argoproj.io/installation-id"),
        ("annotations", "kubectl.kubernetes.io/last-applied-configuration"),
        ("labels", "app.kubernetes.io/instance"),
    ],
)
def test_tracking_marks_of_argo_cd_and_kubectl_are_reported(place: str, key: str) -> None:
    found = cluster_fields.check(objects(changed(job(), f"metadata.{place}", {key: "x"})))
    assert fields(found) == [("SP531", f'metadata.{place}["{key}"]')]


@pytest.mark.parametrize(
    "path",
    ["spec.template.metadata.creationTimestamp", "spec.template.spec.containers.0.image", "metadata.labels"],
)
def test_a_null_anywhere(path: str) -> None:
    expected = path.replace(".0.", "[0].")
    assert fields(cluster_fields.check(objects(changed(job(), path, None)))) == [("SP531", expected)]


def test_a_null_in_a_list() -> None:
    made = changed(job(), "spec.template.spec.containers.0.args", ["a", None])
    assert fields(cluster_fields.check(objects(made))) == [("SP531", "spec.template.spec.containers[0].args[1]")]


def test_null_strings_and_nulls_in_schemas_pass() -> None:
    text = config_map(config='{"a": null, "b": [null]}', other="null")
    schema = changed(definition(), "spec.versions.0.schema.openAPIV3Schema.default", None)
    assert cluster_fields.check(objects(text, schema)) == []


def test_a_clean_object() -> None:
    made = changed(job(), "metadata.labels", {"app.kubernetes.io/name": "a"})
    assert cluster_fields.check(objects(made)) == []


OWNED = [
    (volume(), "spec.claimRef.uid", "1"),
    (volume(), "spec.claimRef.resourceVersion", "1"),
    (service(), "spec.clusterIP", "10.0.0.1"),
    (service(), "spec.clusterIP", ""),
    (service(), "spec.clusterIPs", ["10.0.0.1"]),
    (service(), "spec.healthCheckNodePort", 1),
    (body("ServiceAccount", "agent"), "secrets", []),
    (body("Namespace", "ml", namespace=""), "spec.finalizers", ["kubernetes"]),
    (body("Pod", "a"), "spec.nodeName", "n1"),
    (definition(), "spec.conversion.webhook.clientConfig.caBundle", "Zm9v"),
    (job(), "spec.selector", {}),
    (job(), "spec.manualSelector", True),
    (job(), "spec.template.metadata.labels.job-name", "work"),
    (job(), "spec.template.metadata.labels.controller-uid", "1"),
]


@pytest.mark.parametrize(("made", "path", "value"), OWNED, ids=[path for _, path, _ in OWNED])
def test_a_field_of_a_controller(made: Json, path: str, value: Any) -> None:
    assert [code for code, _ in fields(ownership.check(objects(changed(made, path, value))))] == ["SP534"]


@pytest.mark.parametrize(
    "made",
    [volume(), service(), service(clusterIPs=["None"]), definition(), job(), job(manualSelector=False)],
)
def test_values_that_only_git_sets_pass(made: Json) -> None:
    assert ownership.check(objects(made)) == []


@pytest.mark.parametrize("name", ["kubernetes.io/pvc-protection", "foregroundDeletion", "orphan"])
def test_a_finalizer_of_kubernetes(name: str) -> None:
    made = changed(job(), "metadata.finalizers", ["example.com/mine", name])
    assert fields(ownership.check(objects(made))) == [("SP534", "metadata.finalizers[1]")]
