"""What follows when a process of a training job dies: it starts again and the job goes on, or the job fails.

It never hangs: where the others cannot go on with a new process, nothing starts one and waits.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pytest

from tests.repositories import compiled

Json = dict[str, Any]
Death = Literal["exit 1", "SIGKILL", "node lost"]
DEATHS: tuple[Death, ...] = ("exit 1", "SIGKILL", "node lost")
_CODES = {"exit 1": 1, "SIGKILL": 137}

_PADDLE = """\
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec: {{ {more} {roles} }}
"""
_PADDLE_ROLE = "{role}: {{replicas: {size}, template: {{spec: {{containers: [{{name: main, image: r/train:1}}]}}}}}}"
_LEGACY = """\
---
apiVersion: paddlepaddle.org/v1alpha1
kind: TrainingJob
metadata: {{name: {name}}}
spec:
  image: r/train:1
  {more}
  trainer: {{entrypoint: python train.py, min-instance: {trainers}, max-instance: {trainers}}}
  pserver: {{entrypoint: python serve.py, min-instance: 2, max-instance: 2}}
"""
_MXNET = """\
---
apiVersion: mxnet.mlkube.io/v1beta1
kind: MxJob
metadata: {{name: {name}}}
spec: {{jobMode: {mode}, replicaSpecs: [{roles}]}}
"""
_MXNET_ROLE = (
    "{{mxReplicaType: {role}, replicas: {size}, template: {{spec: {{containers: [{{name: mxnet, image: r/mx:1}}]}}}}}}"
)


def _paddle(name: str, more: str = "", **sizes: int) -> str:
    roles = ", ".join(_PADDLE_ROLE.format(role=role, size=size) for role, size in sizes.items())
    return _PADDLE.format(name=name, more=more, roles=roles)


def _mxnet(name: str, mode: str, **sizes: int) -> str:
    roles = ", ".join(_MXNET_ROLE.format(role=role, size=size) for role, size in sizes.items())
    return _MXNET.format(name=name, mode=mode, roles=roles)


SPECS = (
    _paddle("single", worker=1)
    + _paddle("collective", worker=2)
    + _paddle("ps", worker=1, ps=1)
    + _paddle("heter", worker=2, ps=2, heter=2)
    + _paddle("elastic", "elastic: 1,", worker=2)
    + _LEGACY.format(name="legacy-local", more="local_job: true", trainers=1)
    + _LEGACY.format(name="legacy-nccl", more="is_nccl: true", trainers=2)
    + _LEGACY.format(name="legacy-ps", more="", trainers=2)
    + _LEGACY.format(name="legacy-tolerant", more="fault_tolerant: true", trainers=2)
    + _mxnet("mx-local", "local", WORKER=1)
    + _mxnet("mx-dist", "dist", SCHEDULER=1, SERVER=2, WORKER=2)
)

ALL = ("fails", "fails", "fails")
NONE = ("goes on", "goes on", "goes on")
ALONE = ("fails", "fails", "goes on")
ENDS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("single", "worker"): ALONE,
    ("collective", "worker"): ALL,
    ("ps", "worker"): ALL,
    ("ps", "ps"): ALL,
    ("heter", "worker"): ALL,
    ("heter", "ps"): ALL,
    ("heter", "heter"): ALL,
    ("elastic", "worker"): NONE,
    ("legacy-local", "trainer"): ALONE,
    ("legacy-nccl", "trainer"): ALL,
    ("legacy-ps", "trainer"): ALL,
    ("legacy-ps", "pserver"): ALL,
    ("legacy-tolerant", "trainer"): NONE,
    ("legacy-tolerant", "pserver"): NONE,
    ("legacy-tolerant", "master"): NONE,
    ("mx-local", "worker"): ("fails", "goes on", "goes on"),
    ("mx-dist", "scheduler"): ALL,
    ("mx-dist", "server"): ALL,
    ("mx-dist", "worker"): ALL,
}
"""The end of each job when a process of the role dies, in the order of `DEATHS`."""


@cache
def _manifests(jobs: str) -> list[Json]:
    platform = f"kind: Platform\ndefaultNamespace: ml\nengines: {{jobs: {jobs}}}\n"
    platform += 'paddle: {elasticServers: ["etcd:2379"]}\n'
    with TemporaryDirectory() as folder:
        result = compiled(Path(folder), {"specs.yaml": platform + SPECS})
    assert result.errors == []
    return [output.manifest.body for output in result.outputs]


def _jobs(engine: str) -> Iterator[tuple[str, str, Json]]:
    """Yield spec, role and Job's spec of each role."""
    for body in _manifests(engine):
        name = body["metadata"].get("labels", {}).get("stowplan.dev/name", "")
        if body["kind"] == "Job":
            yield name, body["metadata"]["labels"]["app.kubernetes.io/component"], body["spec"]
        for each in body["spec"]["replicatedJobs"] if body["kind"] == "JobSet" else ():
            yield name, each["name"], each["template"]["spec"]


def _await(engine: str, pod: Json) -> Json:
    (volume,) = (each for each in pod["volumes"] if each["name"] == "await-config")
    maps = {each["metadata"]["name"]: each for each in _manifests(engine) if each["kind"] == "ConfigMap"}
    (text,) = maps[volume["configMap"]["name"]]["data"].values()
    config: Json = json.loads(text)
    return config


def _end(engine: str, job: Json, death: Death) -> str:
    """Return what Kubernetes and the await agent make of a death, by their documentation."""
    pod = job["template"]["spec"]
    names = [each["name"] for each in pod["containers"]]
    if names == ["await"]:
        config = _await(engine, pod)
        own = [each["name"] for each in pod["initContainers"] if each.get("restartPolicy") == "Always"]
        assert config.get("container") in (None, *own)
        seen = not config["replaceable"] if death == "node lost" else bool(config.get("container"))
        return "fails" if seen else "goes on"
    if pod["restartPolicy"] == "OnFailure":
        return "goes on" if job["backoffLimit"] else "fails"
    for rule in job["podFailurePolicy"]["rules"]:
        codes = rule.get("onExitCodes") or {}
        by_code = codes.get("containerName") in names and _CODES.get(death) in codes.get("values", ())
        if by_code or (death == "node lost" and "onPodConditions" in rule):
            return "fails" if rule["action"] == "FailJob" else "goes on"
    return "goes on" if job.get("backoffLimitPerIndex") or job.get("backoffLimit") else "fails"


@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_every_role_is_judged(engine: str) -> None:
    assert {(name, role) for name, role, _ in _jobs(engine)} == set(ENDS)


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_a_process_that_dies_ends_the_job_or_is_readmitted(engine: str, death: Death) -> None:
    found = {(name, role): _end(engine, job, death) for name, role, job in _jobs(engine)}
    assert found == {role: ends[DEATHS.index(death)] for role, ends in ENDS.items()}
