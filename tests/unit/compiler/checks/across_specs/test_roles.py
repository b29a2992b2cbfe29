"""Fields of compiled pods, traced back to the user's template."""

from typing import Any

import pytest

from stowplan.compiler.checks.across_specs.facts import roles_of
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.model import OutputFile
from stowplan.library.dialects.registry import reading
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import SpecId
from tests.unit.specs import lowered, mx_job, mx_role, paddle_job, role, training_job

INIT = {"initContainers": [{"name": "fetch", "image": "fetch:1"}], "volumes": [{"name": "a", "emptyDir": {}}]}
JOB = paddle_job(ps=role(1, spec=INIT), worker=role(2, env=[{"name": "A", "value": "1"}]))
DOCUMENT = JOB.model_dump(mode="json", exclude_unset=True)
POD = ("spec", "template")


def found(kind: str, role_name: str, path: FieldPath, **engines: Any) -> FieldPath | None:
    """The path in the document of a field of a role's object."""
    manifests = lowered(JOB, engines=engines).unit.manifests
    (manifest,) = [each for each in manifests if each.kind == kind and each.stem.endswith(role_name)]
    return in_template(path, manifest)


def in_template(
    path: FieldPath, manifest: Manifest, kind: str = "PaddleJob", *, document: Json = DOCUMENT
) -> FieldPath | None:
    for pod in roles_of(Object(output(manifest, kind))):
        if len(path) > len(pod.path) and path[: len(pod.path)] == pod.path:
            return reading(kind).field(path[len(pod.path) :], pod, document)
    return None


def output(manifest: Manifest, kind: str = "PaddleJob") -> OutputFile:
    spec = SpecId(kind, "ml", "train")
    return OutputFile("ml/a.yaml", manifest, spec, "specs/a.yaml", "digest", ())


@pytest.mark.parametrize(
    ("role_name", "path", "expected"),
    [
        ("worker", ("spec", "hostNetwork"), ("spec", "hostNetwork")),
        ("worker", ("metadata", "labels", "a"), ("metadata", "labels", "a")),
        ("worker", ("spec", "containers", 0, "image"), ("spec", "containers", 0, "image")),
        ("worker", ("spec", "containers", 0, "env", 9, "value"), ("spec", "containers", 0, "env")),
        ("ps", ("spec", "initContainers", 1, "image"), ("spec", "initContainers", 0, "image")),
        ("ps", ("spec", "initContainers", 2, "image"), ("spec", "containers", 0, "image")),
        ("ps", ("spec", "initContainers", 2, "ports", 0), ("spec", "containers", 0, "ports")),
        ("ps", ("spec", "volumes", 0, "name"), ("spec", "volumes", 0, "name")),
    ],
)
def test_a_field_of_a_template(role_name: str, path: FieldPath, expected: FieldPath) -> None:
    assert found("Job", role_name, (*POD, *path)) == ("spec", role_name, "template", *expected)


WAITS = paddle_job(
    sampleSetRef={"name": "data", "mountPath": "/data", "wait": {}},
    ps=role(1, spec=INIT),
    worker=role(2, spec={"initContainers": [{"name": "wait-for-me", "image": "wait:1"}]}),
)


@pytest.mark.parametrize(
    ("role_name", "index", "expected"),
    [
        ("ps", 0, None),
        ("ps", 1, None),
        ("ps", 2, ("initContainers", 0)),
        ("ps", 3, ("containers", 0)),
        ("worker", 0, None),
        ("worker", 1, None),
        ("worker", 2, ("initContainers", 0)),
    ],
)
def test_a_field_after_the_waiting_containers(role_name: str, index: int, expected: FieldPath | None) -> None:
    (manifest,) = [each for each in lowered(WAITS).unit.manifests if each.stem == f"train-paddlejob-{role_name}"]
    document = WAITS.model_dump(mode="json", exclude_unset=True)
    path = in_template((*POD, "spec", "initContainers", index, "image"), manifest, document=document)
    assert path == (("spec", role_name, "template", "spec", *expected, "image") if expected else None)


def test_a_user_container_with_the_name_of_a_waiting_one() -> None:
    own = paddle_job(worker=role(1, spec={"initContainers": [{"name": "wait-dataset", "image": "wait:1"}]}))
    for job, ours in ((WAITS, ["wait-dataset", "wait-peers"]), (own, [])):
        (*_, manifest) = [each for each in lowered(job).unit.manifests if each.kind == "Job"]
        (pod,) = Object(output(manifest)).authored_pods
        assert [container["name"] for _, container in pod.containers] == ours
        rules = manifest.body["spec"]["podFailurePolicy"]["rules"]
        assert ["onExitCodes" in rule for rule in rules] == [*(True for _ in ours[:1]), False]


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
def test_fields_without_a_template(role_name: str, path: FieldPath) -> None:
    assert found("Job", role_name, path) is None


def test_pods_of_agents_have_no_template_of_a_user() -> None:
    (job, *_) = [each for each in lowered(JOB).unit.manifests if each.kind == "Job"]
    assert in_template((*POD, "spec", "hostNetwork"), job, "SampleJob") is None


TRAINING = training_job(
    fault_tolerant=True,
    pserver={"min-instance": 1, "resources": {"limits": {"cpu": 1}}, "imagePullSecrets": [{"name": "registry"}]},
    volumes=[{"name": "data", "emptyDir": {}}],
    VolumeMounts=[{"name": "data", "mountPath": "/data"}],
)


@pytest.mark.parametrize(
    ("role_name", "path", "expected"),
    [
        ("trainer", ("containers", 0, "image"), ("image",)),
        ("trainer", ("containers", 0, "command", 1), ("trainer", "entrypoint")),
        ("trainer", ("containers", 0, "volumeMounts", 0, "mountPath"), ("VolumeMounts", 0, "mountPath")),
        ("trainer", ("containers", 0, "env", 9, "value"), ("trainer", "envs")),
        ("trainer", ("containers", 0, "securityContext"), ("trainer",)),
        ("trainer", ("volumes", 0, "emptyDir"), ("volumes", 0, "emptyDir")),
        ("trainer", ("hostNetwork",), ("host_network",)),
        ("trainer", ("nodeSelector", "pool"), ("trainer", "node_selector", "pool")),
        ("trainer", ("subdomain",), ("trainer",)),
        ("pserver", ("initContainers", 0, "resources", "limits", "cpu"), ("pserver", "resources", "limits", "cpu")),
        ("pserver", ("imagePullSecrets", 0, "name"), ("pserver", "imagePullSecrets", 0, "name")),
        ("pserver", ("containers", 0, "image"), None),
        ("master", ("initContainers", 0, "image"), None),
        ("master", ("initContainers", 1, "livenessProbe", "exec"), ("master", "liveness_probe", "exec")),
        ("master", ("terminationGracePeriodSeconds",), ("master", "grace_period_seconds")),
    ],
)
def test_fields_of_a_training_job(role_name: str, path: FieldPath, expected: FieldPath | None) -> None:
    """It has no templates: its pods are made from fields of the roles and of the job."""
    manifests = lowered(TRAINING).unit.manifests
    (manifest,) = [each for each in manifests if each.kind == "Job" and each.stem.endswith(role_name)]
    document = TRAINING.model_dump(mode="json", by_alias=True, exclude_unset=True)
    place = in_template((*POD, "spec", *path), manifest, "TrainingJob", document=document)
    assert place == (("spec", *expected) if expected is not None else None)


@pytest.mark.parametrize(
    ("role_name", "path", "expected"),
    [
        ("scheduler", ("containers", 0, "image"), (1, "containers", 0, "image")),
        ("worker", ("containers", 0, "image"), (0, "containers", 0, "image")),
        ("worker", ("hostNetwork",), (0, "hostNetwork")),
        ("server", ("initContainers", 0, "image"), (2, "containers", 0, "image")),
        ("server", ("containers", 0, "image"), None),
    ],
)
def test_fields_of_an_mx_job(role_name: str, path: FieldPath, expected: FieldPath | None) -> None:
    """A role is found by its type, that of a worker being the default."""
    model = mx_job(mx_role(), mx_role("SCHEDULER"), mx_role("SERVER"))
    manifests = lowered(model).unit.manifests
    (manifest,) = [each for each in manifests if each.kind == "Job" and each.stem.endswith(role_name)]
    document = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    place = in_template((*POD, "spec", *path), manifest, "MxJob", document=document)
    found_at = ("spec", "replicaSpecs", expected[0], "template", "spec", *expected[1:]) if expected else None
    assert place == found_at
