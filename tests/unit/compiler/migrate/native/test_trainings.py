"""PaddleJobs and MxJobs become Trainings, and TrainingJobs stay."""

import json
from typing import Any

import pytest
import yaml

from tests.unit.compiler.migrate.native.migrated import migrated, spec

SET = spec("SampleSet", "partitions: 1\nnoSync: true\nsecretRef: {name: volume}", "data")
WORKER = """
worker:
  replicas: 2
  template:
    metadata: {labels: {team: a}}
    spec:
      nodeSelector: {disk: ssd}
      containers:
      - name: paddle
        image: registry.example.com/train:1
        command: [python]
        args: [-m, train]
        env: [{name: SEED, value: "1"}]
        envFrom: [{configMapRef: {name: settings}}]
        resources: {limits: {nvidia.com/gpu: 2}}
        workingDir: /code
"""
LOCAL = """
jobMode: local
replicaSpecs:
- replicas: 1
  mxReplicaType: WORKER
  template:
    spec:
      restartPolicy: OnFailure
      containers:
      - {name: side, image: registry.example.com/side:1}
      - {name: mxnet, image: registry.example.com/mxnet:1, command: [python, train.py]}
"""


def training(kind: str, body: str) -> Any:
    result = migrated(spec(kind, body))
    assert result.reasons == []
    return result.document()["spec"]


def test_the_container_that_trains_becomes_fields() -> None:
    found = training("PaddleJob", WORKER)
    assert found.pop("template") == {
        "metadata": {"labels": {"team": "a"}},
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "containers": [{"name": "trainer", "workingDir": "/code"}],
            "securityContext": {"runAsNonRoot": False},
        },
    }
    assert found == {
        "framework": "paddle",
        "image": "registry.example.com/train:1",
        "command": ["python"],
        "args": ["-m", "train"],
        "env": [{"name": "SEED", "value": "1"}],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "numNodes": 2,
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}},
    }


def test_a_container_without_other_fields_is_not_in_the_template() -> None:
    found = training("PaddleJob", "worker: {replicas: 1, template: {spec: {containers: [{name: a, image: b:1}]}}}")
    assert found["template"] == {"spec": {"securityContext": {"runAsNonRoot": False}}}


def test_a_user_of_the_template_is_kept() -> None:
    found = training("PaddleJob", WORKER.replace("workingDir: /code", "securityContext: {runAsUser: 1000}"))
    assert "securityContext" not in found["template"]["spec"]
    assert found["template"]["spec"]["containers"] == [{"name": "trainer", "securityContext": {"runAsUser": 1000}}]


def test_a_dataset_stays_writable() -> None:
    job = spec("PaddleJob", f"sampleSetRef: {{name: data, mountPath: /data}}\n{WORKER}")
    result = migrated(SET, job)
    assert sorted(result.texts) == ["0.yaml", "1.yaml"]
    assert "- name: data\n    mountPath: /data\n    readOnly: false\n" in result.texts["1.yaml"]


@pytest.mark.parametrize("wait", [{}, {"until": "warmed", "timeoutSeconds": 600}])
def test_a_job_waits_for_its_dataset_as_before(wait: dict[str, Any]) -> None:
    job = spec("PaddleJob", f"sampleSetRef: {{name: data, mountPath: /data, wait: {json.dumps(wait)}}}\n{WORKER}")
    result = migrated(SET, job)
    assert result.reasons == []
    (found,) = yaml.safe_load(result.texts["1.yaml"])["spec"]["datasets"]
    assert found == {"name": "data", "mountPath": "/data", "readOnly": False, "wait": wait}


def test_workers_that_restart_in_place_go_on_to() -> None:
    assert training("PaddleJob", f"intranet: Service\n{WORKER}")["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_fields_without_effect_are_named() -> None:
    more = "schedulingPolicy: {queue: a}\nps: {replicas: 0}"
    result = migrated(
        spec(
            "PaddleJob",
            f"cleanPodPolicy: Always\nwithGloo: 1\nintranet: PodIP\n{more}\n{WORKER}",
        )
    )
    assert result.reasons == []
    assert sorted(result.omitted) == [
        "spec.cleanPodPolicy",
        "spec.intranet",
        "spec.ps",
        "spec.schedulingPolicy",
        "spec.withGloo",
    ]


@pytest.mark.parametrize(
    ("more", "at"),
    [
        ("ps: {replicas: 1, template: {spec: {containers: [{name: a, image: b:1}]}}}", "spec.ps"),
        ("heter: {replicas: 1, template: {spec: {containers: [{name: a, image: b:1}]}}}", "spec.heter"),
        ("elastic: 1", "spec.elastic"),
        ("intranet: Host", "spec.intranet"),
    ],
)
def test_what_a_training_cannot_hold_is_said_at_its_line(more: str, at: str) -> None:
    result = migrated(spec("PaddleJob", f"{more}\n{WORKER}"))
    assert (result.reasons, result.texts) == ([("SP427", at)], {})


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("SEED", "PADDLE_TRAINER_ID", "env[0].name"),
        ("SEED", "STOWPLAN_RUN", "env[0].name"),
        ("workingDir: /code", "ports: [{containerPort: 1}, {containerPort: 1}]", "ports[1]"),
    ],
)
def test_variables_that_a_training_sets_and_entries_twice(old: str, new: str, at: str) -> None:
    result = migrated(spec("PaddleJob", WORKER.replace(old, new)))
    assert result.reasons == [("SP427", f"spec.worker.template.spec.containers[0].{at}")]


def test_a_placement_of_its_own_stays() -> None:
    text = spec("PaddleJob", WORKER).replace("ml}", "ml, annotations: {stowplan.dev/cache-placement: required}}")
    metadata = {"name": "x", "namespace": "ml", "annotations": {"stowplan.dev/cache-placement": "required"}}
    assert migrated(text).document()["metadata"] == metadata


@pytest.mark.parametrize(("kind", "body"), [("PaddleJob", WORKER), ("MxJob", LOCAL)])
def test_restarts_become_a_field(kind: str, body: str) -> None:
    text = spec(kind, body).replace("ml}", 'ml, annotations: {stowplan.dev/restarts: "3"}}')
    document = migrated(text).document()
    assert document["spec"]["restart"] == {"max": 3, "retryOn": []}
    assert "restartPolicy" not in document["spec"]["template"]["spec"]
    assert not document["metadata"].get("annotations")


def test_a_service_account_keeps_its_token() -> None:
    pod = training("PaddleJob", WORKER.replace("nodeSelector: {disk: ssd}", "serviceAccountName: train"))["template"][
        "spec"
    ]
    assert (pod["serviceAccountName"], pod["automountServiceAccountToken"]) == ("train", True)


def test_a_local_job_of_mxnet() -> None:
    found = training("MxJob", LOCAL)
    template = found.pop("template")["spec"]
    assert found == {
        "framework": "none",
        "image": "registry.example.com/mxnet:1",
        "command": ["python", "train.py"],
        "numNodes": 1,
    }
    assert template["containers"] == [{"name": "side", "image": "registry.example.com/side:1"}, {"name": "trainer"}]
    assert "restartPolicy" not in template


def test_distributed_jobs_of_mxnet_stay() -> None:
    scheduler = LOCAL.replace("local", "dist").replace("WORKER", "SCHEDULER")
    assert migrated(spec("MxJob", scheduler)).reasons == [("SP427", "spec.jobMode")]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("image: a:1\ntrainer: {min-instance: 1}\npserver: {min-instance: 1}", "spec.pserver"),
        ("image: a:1\nfault_tolerant: true\ntrainer: {min-instance: 1}", "spec.fault_tolerant"),
        ("image: a:1\nlocal_job: true\ntrainer: {min-instance: 1}", "spec.trainer"),
        ("image: a:1\nis_nccl: true\ntrainer: {min-instance: 2}", "spec.trainer"),
    ],
)
def test_training_jobs_stay(body: str, at: str) -> None:
    assert migrated(spec("TrainingJob", body)).reasons == [("SP427", at)]


def test_specs_with_an_order_between_them_stay() -> None:
    """The order names their kinds, which only a reader of the result could correct."""
    before = spec("PaddleJob", WORKER, "first")
    after = spec("PaddleJob", WORKER, "last").replace(
        "namespace: ml", "namespace: ml, annotations: {stowplan.dev/run-after: PaddleJob/first}"
    )
    found = migrated(before, after)
    assert found.texts == {}
    assert found.reasons == [
        ("SP427", "metadata.name"),
        ("SP427", 'metadata.annotations["stowplan.dev/run-after"]'),
    ]
