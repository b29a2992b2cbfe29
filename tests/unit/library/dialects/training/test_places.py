"""The places in a Training's document from which the parts of its pods come."""

from typing import Any

import pytest

from stowplan.library.dialects.training.places import written

NAMES = {"initContainers": ["wait-peers", "fetch"], "containers": ["logs", "trainer"]}
TEMPLATE = {
    "metadata": {"labels": {"team": "nlp"}},
    "spec": {
        "securityContext": {"runAsUser": 0},
        "volumes": [{"name": "scratch"}],
        "initContainers": [{"name": "fetch"}],
        "containers": [{"name": "trainer", "workingDir": "/src", "volumeMounts": []}, {"name": "logs", "image": "x"}],
    },
}
SPEC = {
    "image": "registry.example.com/ml/train:1",
    "env": [{"name": "A"}],
    "resourcesPerNode": {"limits": {"cpu": 4}},
    "accelerator": "h100",
    "network": "rdma",
    "template": TEMPLATE,
}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("spec.containers.1.image", "spec.image"),
        ("spec.containers.1.env.7.value", "spec.env"),
        ("spec.containers.1.resources.limits.cpu", "spec.resourcesPerNode.limits.cpu"),
        ("spec.containers.1.resources.limits.nvidia.com/gpu", "spec.resourcesPerNode"),
        ("spec.containers.1.securityContext.capabilities.add", "spec.network"),
        ("spec.containers.1.workingDir", "spec.template.spec.containers.0.workingDir"),
        ("spec.containers.1.volumeMounts.2.name", "spec.template.spec.containers.0.volumeMounts"),
        ("spec.containers.0.image", "spec.template.spec.containers.1.image"),
        ("spec.containers.0.command", "spec.template.spec.containers.1"),
        ("spec.initContainers.1", "spec.template.spec.initContainers.0"),
        ("spec.initContainers.0.image", "spec"),
        ("spec.securityContext.runAsUser", "spec.template.spec.securityContext.runAsUser"),
        ("spec.volumes.1.hostPath", "spec.template.spec.volumes"),
        ("spec.nodeSelector", "spec.accelerator"),
        ("spec.hostNetwork", "spec.network"),
        ("metadata.labels.team", "spec.template.metadata.labels.team"),
        ("metadata.annotations.a", "spec.network"),
        ("spec.schedulerName", "spec"),
    ],
)
def test_place_in_the_document(path: str, place: str) -> None:
    # A key with a dot is one part of its path.
    parts: Any = [*path.split(".")[:5], "nvidia.com/gpu"] if path.endswith("gpu") else path.split(".")
    found = written(tuple(int(part) if part.isdecimal() else part for part in parts), NAMES, {"spec": SPEC})
    assert ".".join(map(str, found)) == place
