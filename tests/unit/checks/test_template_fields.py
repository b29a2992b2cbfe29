"""Fields of compiled pods, found again in the template that a user wrote."""

from typing import Any

import pytest

from stowplan.compiler.checks.objects import read
from stowplan.compiler.checks.template_fields import in_template
from stowplan.compiler.model import Output
from stowplan.library.manifest import Manifest
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import SpecId
from tests.unit.specs import lowered, paddle_job, role

INIT = {"initContainers": [{"name": "fetch", "image": "fetch:1"}], "volumes": [{"name": "a", "emptyDir": {}}]}
JOB = paddle_job(ps=role(1, spec=INIT), worker=role(2, env=[{"name": "A", "value": "1"}]))
DOCUMENT = JOB.model_dump(mode="json", exclude_unset=True)
POD = ("spec", "template")


def found(kind: str, role_name: str, path: FieldPath, **engines: Any) -> FieldPath | None:
    """Where the field of a role's object stands in the document."""
    manifests = lowered(JOB, engines=engines).unit.manifests
    (manifest,) = [each for each in manifests if each.kind == kind and each.stem.endswith(role_name)]
    return in_template(path, read(output(manifest)), DOCUMENT)


def output(manifest: Manifest, kind: str = "PaddleJob") -> Output:
    spec = SpecId(kind, "ml", "train")
    return Output("ml/a.yaml", manifest, spec, "specs/a.yaml", "digest", ())


@pytest.mark.parametrize(
    ("role_name", "path", "expected"),
    [
        ("worker", ("spec", "hostNetwork"), ("spec", "hostNetwork")),
        ("worker", ("metadata", "labels", "a"), ("metadata", "labels", "a")),
        ("worker", ("spec", "containers", 0, "image"), ("spec", "containers", 0, "image")),
        ("worker", ("spec", "containers", 0, "env", 9, "value"), ("spec", "containers", 0, "env")),
        ("ps", ("spec", "initContainers", 0, "image"), ("spec", "initContainers", 0, "image")),
        ("ps", ("spec", "initContainers", 1, "image"), ("spec", "containers", 0, "image")),
        ("ps", ("spec", "initContainers", 1, "ports", 0), ("spec", "containers", 0, "ports")),
        ("ps", ("spec", "volumes", 0, "name"), ("spec", "volumes", 0, "name")),
    ],
)
def test_a_field_of_a_template(role_name: str, path: FieldPath, expected: FieldPath) -> None:
    assert found("Job", role_name, (*POD, *path)) == ("spec", role_name, "template", *expected)


def test_a_role_in_a_job_set() -> None:
    path = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "containers", 0, "image")
    assert found("JobSet", "", path, jobs="jobset") == ("spec", "ps", "template", "spec", "containers", 0, "image")


@pytest.mark.parametrize(
    ("role_name", "path"),
    [
        ("ps", (*POD, "spec", "containers", 0, "image")),
        ("ps", POD),
        ("ps", ("spec", "completions")),
        ("worker", ("metadata", "name")),
    ],
)
def test_what_no_template_has(role_name: str, path: FieldPath) -> None:
    assert found("Job", role_name, path) is None


def test_pods_of_agents_have_no_template_of_a_user() -> None:
    (job, *_) = [each for each in lowered(JOB).unit.manifests if each.kind == "Job"]
    assert in_template((*POD, "spec", "hostNetwork"), read(output(job, "SampleJob")), DOCUMENT) is None
