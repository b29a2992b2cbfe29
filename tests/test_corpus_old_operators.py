"""Real documents of Baidu's operator and of the MXNet operator, outside of this repository: see `test_corpus`."""

from typing import Any

import pytest

from tests.repositories import CORPUS, Result, compiled, corpus

pytestmark = pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")

TRAINING_JOB, MX_JOB = "trainingjob-examplejob-320f552d.yaml", "mxjob-example-local-job-4176b1e4.yaml"
KUEUE = """\
kind: Platform
images: {registry: registry.example.com/ml, tag: "1"}
engines: {jobs: jobset, gang: kueue, queue: training}
---
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Both documents on Kubernetes alone."""
    return compiled(tmp_path_factory.mktemp("old"), {name: corpus()[name] for name in (TRAINING_JOB, MX_JOB)})


@pytest.fixture(scope="module")
def elastic(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The TrainingJob where a queue gives it as many trainers as fit."""
    return compiled(tmp_path_factory.mktemp("elastic"), {TRAINING_JOB: KUEUE + corpus()[TRAINING_JOB]})


def test_what_is_said_of_them(result: Result) -> None:
    assert [(each.severity, each.code, each.field_path) for each in result.diagnostics] == [
        ("warning", "SP607", "spec.image"),
        ("warning", "SP471", "spec.trainer.max-instance"),
        ("warning", "SP483", "spec.pserver"),
        ("info", "SP212", _GPU),
        ("info", "SP478", "spec.replicaSpecs[0].template.spec.restartPolicy"),
        ("info", "SP212", "apiVersion"),
        ("info", "SP212", "spec.trainer.passes"),
        ("info", "SP536", "argocd"),
    ]


def test_a_queue_makes_the_job_elastic(elastic: Result) -> None:
    assert {each.code for each in elastic.diagnostics} == {"SP212", "SP483", "SP536", "SP607"}


def test_the_training_job_becomes_three_roles(result: Result) -> None:
    jobs = {stem: body for (kind, stem), body in _objects(result).items() if kind == "Job" and "trainingjob" in stem}
    sizes = {
        stem.rpartition("-")[2]: (body["spec"]["completions"], body["spec"]["parallelism"])
        for stem, body in jobs.items()
    }
    assert sizes == {"master": (1, 1), "pserver": (2, 2), "trainer": (2, 2)}


def test_trainers_run_the_entrypoint(result: Result) -> None:
    job = _object(result, "Job", "examplejob-trainingjob-trainer")
    (trainer,) = job["spec"]["template"]["spec"]["containers"]
    assert trainer["command"] == ["python", "/root/mock_trainer.py"]
    assert (trainer["workingDir"], trainer["image"]) == ("/root", "hub.baidubce.com/jpaas-public/paddlejob-mock")
    assert trainer["resources"]["limits"] == {"cpu": "200m", "memory": "200Mi"}
    assert "ports" not in trainer


def test_servers_open_the_ports_of_the_job(result: Result) -> None:
    server = _helper(result, "pserver")
    assert [(each["name"], each["containerPort"]) for each in server["ports"]] == [
        ("jobport-7164", 7164),
        ("jobport-7165", 7165),
    ]
    assert "command" not in server


def test_the_pod_of_the_master_runs_an_etcd(result: Result) -> None:
    job = _object(result, "Job", "examplejob-trainingjob-master")
    etcd, master = job["spec"]["template"]["spec"]["initContainers"]
    assert (etcd["name"], etcd["restartPolicy"], etcd["startupProbe"]["tcpSocket"]) == (
        "etcd",
        "Always",
        {"port": 2379},
    )
    assert master["command"] == ["paddle_k8s", "start_master"]
    assert master["resources"]["requests"] == {"cpu": "1", "memory": "500Mi"}


@pytest.mark.parametrize("role", ["master", "pserver", "trainer"])
def test_all_pods_get_the_variables_of_the_old_operator(result: Result, role: str) -> None:
    """Save the passes, which the document has where the old operator did not look."""
    env = {each["name"]: each.get("value") for each in _helper(result, role)["env"]}
    expected = {
        "PADDLE_JOB_NAME": "examplejob",
        "TRAINERS": "2",
        "PSERVERS": "2",
        "ENTRY": "python /root/mock_trainer.py",
        "TOPOLOGY": "python /root/mock_trainer.py",
        "TRAINER_PACKAGE": "/root",
        "PADDLE_INIT_PORT": "7164",
        "PADDLE_INIT_TRAINER_COUNT": "1",
        "PADDLE_INIT_PORTS_NUM": "1",
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": "1",
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": "2",
        "PADDLE_INIT_NUM_PASSES": "50",
        "PADDLE_INIT_USE_GPU": "0",
        "LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
    }
    assert {name: env[name] for name in expected} == expected
    assert {"NAMESPACE", "POD_IP", "POD_NAME"} <= env.keys()


def test_elastic_trainers_are_a_job_beside_their_helpers(elastic: Result) -> None:
    job = _object(elastic, "Job", "examplejob-trainingjob-trainer")
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (6, 6)
    notes = job["metadata"]["annotations"]
    assert notes["kueue.x-k8s.io/job-min-parallelism"] == "2"
    assert notes["kueue.x-k8s.io/job-completions-equal-parallelism"] == "true"
    job_set = _object(elastic, "JobSet", "examplejob-trainingjob")
    assert [each["name"] for each in job_set["spec"]["replicatedJobs"]] == ["master", "pserver"]


def test_the_mx_job_becomes_one_pod(result: Result) -> None:
    job = _object(result, "Job", "example-local-job-mxjob-worker")["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert (job["completions"], container["workingDir"]) == (1, "/mxnet/example/image-classification")
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 1}
    assert "env" not in container


def test_custom_resources_are_what_was_written(result: Result) -> None:
    spec = _object(result, "TrainingJob", "examplejob")["spec"]
    assert (spec["passes"], "passes" in spec["trainer"]) == (50, False)
    assert (spec["trainer"]["min-instance"], spec["trainer"]["max-instance"]) == (2, 6)
    assert _object(result, "MxJob", "example-local-job")["spec"]["jobMode"] == "local"


_GPU = 'spec.replicaSpecs[0].template.spec.containers[0].resources.limits["alpha.kubernetes.io/nvidia-gpu"]'


def _objects(result: Result) -> dict[tuple[str, str], dict[str, Any]]:
    return {(output.manifest.kind, output.manifest.stem): output.manifest.body for output in result.outputs}


def _object(result: Result, kind: str, stem: str) -> dict[str, Any]:
    return _objects(result)[kind, stem]


def _helper(result: Result, role: str) -> dict[str, Any]:
    """The container of a role, which is a sidecar in a helper's pod."""
    spec = _object(result, "Job", f"examplejob-trainingjob-{role}")["spec"]["template"]["spec"]
    every = [*spec.get("initContainers", ()), *spec["containers"]]
    found: dict[str, Any] = next(each for each in every if each["name"] == role)
    return found
