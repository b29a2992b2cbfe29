"""Training jobs that run after other specs: closed, with a gate that waits for the runs of the others."""

import json
from pathlib import Path

import pytest

from stowplan.library.manifest import Json
from tests.repositories import Result, compiled

SET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec: {partitions: 1, noSync: true, secretRef: {name: data}}
"""
CLEAN = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: clean, namespace: ml}
spec: {type: rmr, sampleSetRef: {name: data}, rmrOptions: {paths: [old]}}
"""
TEMPLATE = "template: {spec: {containers: [{name: NAME, image: registry.example.com/ml/net:1}]}}"
ANNOTATED = {
    "PaddleJob": """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: net, namespace: ml, annotations: {stowplan.dev/run-after: SampleJob/clean}}
spec: {worker: {replicas: 2, TEMPLATE}}
""".replace("TEMPLATE", TEMPLATE.replace("NAME", "paddle")),
    "TrainingJob": """\
apiVersion: paddlepaddle.org/v1alpha1
kind: TrainingJob
metadata: {name: net, namespace: ml, annotations: {stowplan.dev/run-after: SampleJob/clean}}
spec: {image: "registry.example.com/ml/net:1", trainer: {min-instance: 2, entrypoint: run}}
""",
    "MxJob": """\
apiVersion: mxnet.mlkube.io/v1beta1
kind: MxJob
metadata: {name: net, namespace: ml, annotations: {stowplan.dev/run-after: SampleJob/clean}}
spec: {jobMode: local, replicaSpecs: [{TEMPLATE}]}
""".replace("TEMPLATE", TEMPLATE.replace("NAME", "mxnet")).replace(
        "spec: {containers", "spec: {restartPolicy: Never, containers"
    ),
    "Training": """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: net, namespace: ml}
spec: {framework: none, image: "registry.example.com/ml/net:1", runAfter: [{kind: SampleJob, name: clean}]}
""",
}
PLATFORM = 'apiVersion: stowplan.dev/v1alpha1\nkind: Platform\nimages: {registry: registry.example.com/ml, tag: "1"}\n'


def net(name: str, after: str) -> str:
    return f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {{name: {name}, namespace: ml}}
spec: {{framework: none, image: "registry.example.com/ml/net:1", runAfter: [{after}]}}
"""


def build(repo: Path, *documents: str, engines: str = "") -> Result:
    first = [f"{PLATFORM}engines: {engines}\n"] if engines else []
    result = compiled(repo, {"specs.yaml": "---\n".join([*first, *documents])})
    assert [str(each) for each in result.errors] == []
    return result


def bodies(result: Result, kind: str, name: str = "net") -> list[Json]:
    found = (each.manifest.body for each in result.outputs if each.spec and each.spec.name == name)
    return [each for each in found if each["kind"] == kind]


def gate(result: Result, name: str = "net") -> Json:
    (found,) = [each for each in bodies(result, "ConfigMap", name) if "-gate-" in each["metadata"]["name"]]
    config: Json = json.loads(next(iter(found["data"].values())))
    return config


def runs(result: Result, kind: str, name: str) -> list[Json]:
    return [each for each in bodies(result, kind, name) if "-gate-" not in each["metadata"]["name"]]


def ending(result: Result, kind: str, name: str) -> str:
    return str(runs(result, kind, name)[0]["metadata"]["name"][-8:])


@pytest.mark.parametrize("kind", ANNOTATED)
@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_job_is_closed_until_the_run_of_the_other_is_complete(kind: str, engine: str, tmp_path: Path) -> None:
    result = build(tmp_path, SET, CLEAN, ANNOTATED[kind], engines=f"{{jobs: {engine}}}")
    closed = [*runs(result, "Job", "net"), *runs(result, "JobSet", "net")]
    assert [each["spec"]["suspend"] for each in closed] == [True] * len(closed)
    assert {each["metadata"]["annotations"]["stowplan.dev/gate"] for each in closed} == {"SampleJob clean"}
    (wait,) = gate(result)["waits"]
    assert (wait["kind"], wait["name"], wait["condition"]) == ("SampleJob", "clean", "Complete")
    assert wait["run"] == ending(result, "Job", "clean")


def test_with_kueue_the_job_has_an_admission_gate(tmp_path: Path) -> None:
    engines = "{gang: kueue, jobs: jobset, queue: team}"
    result = build(tmp_path, SET, CLEAN, ANNOTATED["Training"], engines=engines)
    (job,) = runs(result, "JobSet", "net")
    assert job["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] == "stowplan.dev/gate"
    assert "suspend" not in job["spec"]


def test_gate_may_read_only_what_it_waits_for(tmp_path: Path) -> None:
    result = build(tmp_path, SET, CLEAN, ANNOTATED["PaddleJob"])
    (role,) = [each for each in bodies(result, "Role") if "-gate-" in each["metadata"]["name"]]
    read = [each for each in role["rules"] if "patch" not in each["verbs"]]
    assert [(each["resources"], each["resourceNames"]) for each in read] == [
        (["paddlejobs"], ["net"]),
        (["samplejobs"], ["clean"]),
    ]


@pytest.mark.parametrize("kind", ["PaddleJob", "TrainingJob", "MxJob", "Training"])
def test_job_runs_after_a_job_that_waits_itself(kind: str, tmp_path: Path) -> None:
    last = net("last", f"{{kind: {kind}, name: net}}")
    result = build(tmp_path, SET, CLEAN, ANNOTATED[kind], last)
    (wait,) = gate(result, "last")["waits"]
    assert wait["run"] == ending(result, "Job", "net")


CUBE = """\
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {name: weights, namespace: ml}
spec:
  source: {type: git, options: [{name: url, value: "https://git.example.com/ml/train.git"}]}
  sink: {type: pvc, pvc: {name: weights}}
"""


def test_job_runs_after_a_data_cube(tmp_path: Path) -> None:
    result = build(tmp_path, CUBE, net("net", "{kind: DataCube, name: weights}"))
    (wait,) = gate(result)["waits"]
    assert (wait["kind"], wait["condition"]) == ("DataCube", "Complete")
    assert wait["run"] == ending(result, "Job", "weights")


def test_dataset_is_awaited_by_its_sync(tmp_path: Path) -> None:
    filled = SET.replace("noSync: true", "source: {uri: 's3://samples.s3.amazonaws.com/data/'}")
    result = build(tmp_path, filled, net("net", "{kind: SampleSet, name: data}"))
    (wait,) = gate(result)["waits"]
    (sync,) = [each for each in runs(result, "Job", "data") if "sync" in each["metadata"]["name"]]
    assert (wait["condition"], wait["run"]) == ("Ready", sync["metadata"]["name"][-8:])


def test_wait_for_a_dataset_has_no_limit_beside_a_wait_without_one(tmp_path: Path) -> None:
    filled = SET.replace("noSync: true", "source: {uri: 's3://samples.s3.amazonaws.com/data/'}")
    both = ANNOTATED["PaddleJob"].replace(
        "spec: {", "spec: {sampleSetRef: {name: data, mountPath: /data, wait: {timeoutSeconds: 60}}, ", 1
    )
    result = build(tmp_path, filled, CLEAN, both)
    assert [each["kind"] for each in gate(result)["waits"]] == ["SampleSet", "SampleJob"]
    (opener,) = [each for each in bodies(result, "Job") if "-gate-" in each["metadata"]["name"]]
    assert "activeDeadlineSeconds" not in opener["spec"]


def test_name_of_a_run_does_not_follow_from_the_runs_before_it(tmp_path: Path) -> None:
    one = build(tmp_path / "one", SET, CLEAN, ANNOTATED["PaddleJob"])
    two = build(tmp_path / "two", SET, CLEAN.replace("[old]", "[older]"), ANNOTATED["PaddleJob"])
    assert ending(one, "Job", "net") == ending(two, "Job", "net")
    assert gate(one)["waits"] != gate(two)["waits"]


def test_jobs_that_wait_for_each_other_are_an_error(tmp_path: Path) -> None:
    documents = [net("a", "{kind: Training, name: b}"), net("b", "{kind: Training, name: a}")]
    result = compiled(tmp_path, {"specs.yaml": "---\n".join(documents)})
    assert [each.code for each in result.errors] == ["SP752", "SP752"]
