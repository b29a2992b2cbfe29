"""PaddleJobs of the launcher test: what their containers run is `tests.launcher.program`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from stowplan.library.dialects.paddle_job import ROLES
from tests.launcher.kubelet import CONTAINER
from tests.repositories import Result, compiled

ETCD = "etcd-0.etcd.ml:2379"
_SECOND = "etcd-1.etcd.ml:2379"
PATIENCE = 30.0
"""Seconds that a program waits for the others; none comes near it but one whose peers never come."""

_MODULE = "tests.launcher.program"


def job(
    folder: Path, mode: str, spec: Mapping[str, Any], *, engine: str = "core", patience: float = PATIENCE
) -> Result:
    """A PaddleJob compiled; roles are given by their number of pods."""
    platform: dict[str, Any] = {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "Platform",
        "images": {"registry": "registry.example.com/ml", "tag": "1"},
        "engines": {"jobs": engine},
        "paddle": {"elasticServers": [ETCD, _SECOND]},
    }
    model: dict[str, Any] = {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "resnet", "namespace": "ml"},
        "spec": {key: _role(value, mode, patience) if key in ROLES else value for key, value in spec.items()},
    }
    result = compiled(folder, {"job.yaml": yaml.safe_dump_all([platform, model], sort_keys=False)})
    assert not result.errors
    return result


def _role(size: int, mode: str, patience: float) -> dict[str, Any]:
    container = {
        "name": CONTAINER,
        "image": "registry.example.com/ml/paddle:2",
        "command": ["python", "-m", _MODULE],
        "args": [mode, str(patience)],
    }
    return {"replicas": size, "template": {"spec": {"containers": [container]}}}
