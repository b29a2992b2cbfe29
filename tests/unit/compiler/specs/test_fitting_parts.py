"""Errors of one part of a spec leave the findings about its other parts alone, and no finding follows from them."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.specs.validate import read_spec
from stowplan.compiler.yaml.emitter import emit
from stowplan.compiler.yaml.reader import read
from stowplan.schema.platform.platform import Platform
from tests.unit.users import codes as user_codes
from tests.unit.users import laid_out

POD: dict[str, Any] = {
    "metadata": {"labels": {"team": "vision"}},
    "spec": {
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "nodeSelector": {"pool": "gpu"},
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "model", "image": {"reference": "a/b:1"}}],
        "initContainers": [{"name": "first", "image": "a/b:1", "env": [{"name": "A", "value": "1"}]}],
        "containers": [
            {
                "name": "mxnet",
                "image": "a/b:1",
                "command": ["python", "-m", "paddle.distributed.launch"],
                "args": ["--servers", "a", "--trainers", "b"],
                "env": [{"name": "PADDLE_MASTER", "value": "etcd://a:1"}],
                "ports": [{"name": "web", "containerPort": 80, "hostPort": 80}],
                "resources": {"limits": {"cpu": "2", "nvidia.com/gpu": 1}, "requests": {"cpu": "1"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }
        ],
    },
}
SMALL: dict[str, Any] = {"spec": {"containers": [{"name": "main", "image": "a/b:1"}]}}
PADDLE: dict[str, Any] = {
    "apiVersion": "batch.paddlepaddle.org/v1",
    "kind": "PaddleJob",
    "metadata": {"name": "a"},
}
SPECS: dict[str, dict[str, Any]] = {
    "elastic": {**PADDLE, "spec": {"elastic": 1, "worker": {"replicas": 2, "template": POD}}},
    "servers": {
        **PADDLE,
        "spec": {"ps": {"replicas": 1, "template": POD}, "worker": {"replicas": 1, "template": SMALL}},
    },
    "mxnet": {
        "apiVersion": "mxnet.mlkube.io/v1beta1",
        "kind": "MxJob",
        "metadata": {"name": "a"},
        "spec": {"jobMode": "local", "replicaSpecs": [{"replicas": 1, "template": POD}]},
    },
    "legacy": {
        "apiVersion": "paddlepaddle.org/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {
            "image": "a/b:1",
            "local_job": True,
            "volumes": [{"name": "data", "emptyDir": {}}],
            "VolumeMounts": [{"name": "data", "mountPath": "/data"}],
            "trainer": {
                "entrypoint": "python train.py",
                "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
            },
        },
    },
}
WRONG: tuple[Any, ...] = (7, "a b", [], {})
Place = tuple[str | int, ...]


def codes(data: dict[str, Any]) -> set[str]:
    (document,), _ = read(emit(data), "specs/a.yaml")
    report = Report()
    read_spec(document, Platform(), report)
    return {each.code for each in report.diagnostics}


def places(node: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the paths and values of all fields and items of Kubernetes values, the whole values included."""
    if {"template", "volumes", "VolumeMounts", "resources", "tolerations"} & set(path):
        yield path, node
    for key, below in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(below, (*path, key))


def changed(data: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    """Return the document with another value at `path`; with the value ..., under a misspelt name."""
    data = copy.deepcopy(data)
    node: Any = data
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        node[f"{path[-1]}x"] = node.pop(path[-1])
    else:
        node[path[-1]] = value
    return data


@pytest.mark.parametrize("name", SPECS)
def test_nothing_follows_from_a_part_that_does_not_fit(name: str) -> None:
    spec = SPECS[name]
    assert codes(changed(spec, ("metadata", "name"), "A_B")) == {"SP210"}
    refused = 0
    for path, given in places(spec):
        wrong = [value for value in WRONG if type(value) is not type(given)]
        wrong += [...] if isinstance(path[-1], str) else []
        for value in wrong:
            found = codes(changed(spec, path, value))
            if "SP213" in found:
                assert found == {"SP213"}, (path, value)
                refused += 1
    assert refused > 30


ERROR = {"resources": {"limits": {"cpu": "two"}}}


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"volumeMounts": [{"name": "other", "mountPath": "/a"}]}, "SP442"),
        ({"image": "a/b:1:2"}, "SP206"),
        ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}, "SP436"),
        ({"name": "first"}, "SP450"),
    ],
)
@pytest.mark.parametrize("name", ["elastic", "servers", "mxnet"])
def test_another_field_of_the_same_container_is_judged(name: str, part: dict[str, Any], code: str) -> None:
    spec = copy.deepcopy(SPECS[name])
    role = spec["spec"].get("worker") or spec["spec"]["replicaSpecs"][0]
    role["template"] = copy.deepcopy(POD)
    role["template"]["spec"]["containers"][0] |= ERROR | part
    assert codes(spec) >= {"SP213", code}


def test_fields_of_the_same_pods_of_a_training_job_are_judged() -> None:
    spec = changed(SPECS["legacy"], ("spec", "VolumeMounts", 0, "name"), "other")
    assert codes(changed(spec, ("spec", "trainer", "resources", "limits", "cpu"), "two")) == {"SP213", "SP442"}


def test_a_misnamed_spec_is_judged_too() -> None:
    spec = changed(SPECS["elastic"], ("metadata", "name"), "A_B")
    template = ("spec", "worker", "template", "spec", "containers", 0)
    assert codes(changed(spec, (*template, "image"), "a/b:1:2")) == {"SP210", "SP206"}


def test_rules_wait_for_a_platform_file_without_errors(tmp_path: Path) -> None:
    """Some depend on it: this job would find its etcd in `paddle.elasticServers`."""
    spec = changed(SPECS["elastic"], ("spec", "worker", "template", "spec", "containers", 0, "ports"), 7)
    del spec["spec"]["worker"]["template"]["spec"]["containers"][0]["env"]
    laid_out(tmp_path, emit(spec), "paddle: {elasticServers: [etcd.ml:2379]}\n")
    assert "error SP434" not in user_codes("validate", str(tmp_path))
    laid_out(tmp_path, emit(spec), "paddle: {elasticServer: [etcd.ml:2379]}\n")
    assert user_codes("validate", str(tmp_path)) == ["error SP213", "error SP201"]
    laid_out(tmp_path, emit(spec), "")
    assert user_codes("validate", str(tmp_path))[:2] == ["error SP434", "error SP213"]
