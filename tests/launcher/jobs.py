"""Jobs of the launcher test, whose containers run the programs of this folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from stowplan.schema.kinds import mx_job
from stowplan.schema.kinds.paddle_job import ROLES
from tests.launcher.kubelet import CONTAINER
from tests.repositories import REPOSITORY, Result, compiled

ETCD = "etcd-0.etcd.ml:2379"
_SECOND = "etcd-1.etcd.ml:2379"
PATIENCE = 30.0
"""Seconds that a program waits for the others; none comes near it but one whose peers never come."""

_IMAGE = "registry.example.com/ml/train:1"
_METADATA = {"name": "resnet", "namespace": "ml"}
_MX_ROLES = ("SCHEDULER", "SERVER", "WORKER")


def job(
    folder: Path,
    mode: str,
    spec: Mapping[str, Any],
    *,
    engine: str = "core",
    launcher: str = "legacy",
    patience: float = PATIENCE,
    peers_timeout: int = 60,
    command: Sequence[str] = (),
    port: int = 36000,
) -> Result:
    """A PaddleJob compiled; roles are given by their number of pods, the launcher is that of elastic jobs.

    `command` replaces the programs of this folder, `port` is the first port of all pods.
    """
    words = command or ["python", "-m", "tests.launcher.program", mode, str(patience)]
    roles = {key: _role(value, words) if key in ROLES else value for key, value in spec.items()}
    model = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": _METADATA, "spec": roles}
    return _compiled(folder, model, {"jobs": engine, "peersTimeoutSeconds": peers_timeout}, launcher, port)


def training_job(
    folder: Path,
    programs: Mapping[str, str],
    spec: Mapping[str, Any],
    *,
    engine: str = "core",
    gang: str = "none",
    patience: float = PATIENCE,
    peers_timeout: int = 60,
) -> Result:
    """A TrainingJob compiled. `programs` are those of the roles, see `legacy`; a role is given by its smallest size,
    or by both."""
    roles: dict[str, Any] = {}
    for name, program in programs.items():
        least, most = spec[name] if isinstance(spec[name], tuple) else (spec[name], spec[name])
        word, *rest = program.split()
        entrypoint = " ".join(["python -m tests.launcher.legacy", word, str(patience), *rest])
        roles[name] = {"min-instance": least, "max-instance": most, "entrypoint": entrypoint}
    roles["trainer"]["workspace"] = str(REPOSITORY)
    model = {
        "apiVersion": "paddlepaddle.org/v1alpha1",
        "kind": "TrainingJob",
        "metadata": _METADATA,
        "spec": {"image": _IMAGE, **spec, **roles},
    }
    return _compiled(
        folder, model, {"jobs": engine, "gang": gang, "queue": "training", "peersTimeoutSeconds": peers_timeout}
    )


def mx_job_of(
    folder: Path,
    mode: str,
    sizes: Mapping[str, int],
    *,
    engine: str = "core",
    port: int | None = None,
    host: bool = False,
    patience: float = PATIENCE,
    command: Sequence[str] = (),
) -> Result:
    """An MxJob compiled; `sizes` are those of its roles, in capitals. `command` replaces the program of this folder."""
    container = {
        "name": mx_job.CONTAINER,
        "image": _IMAGE,
        "command": list(command or ["python", "-m", "tests.launcher.ps_lite", mode, str(patience)]),
    }
    pod: dict[str, Any] = {"containers": [container], "restartPolicy": "Never"}
    if host:
        pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    specs = [{"mxReplicaType": role, "replicas": size, "template": {"spec": pod}} for role, size in sizes.items()]
    if port is not None:
        specs = [{**each, "PsRootPort": port} if each["mxReplicaType"] == _MX_ROLES[0] else each for each in specs]
    model = {
        "apiVersion": "mxnet.mlkube.io/v1beta1",
        "kind": "MxJob",
        "metadata": _METADATA,
        "spec": {"jobMode": mode, "replicaSpecs": specs},
    }
    return _compiled(folder, model, {"jobs": engine})


def _compiled(
    folder: Path, model: Mapping[str, Any], engines: Mapping[str, Any], launcher: str = "legacy", port: int = 36000
) -> Result:
    platform: dict[str, Any] = {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "Platform",
        "images": {"registry": "registry.example.com/ml", "tag": "1"},
        "engines": dict(engines),
        "paddle": {"elasticServers": [ETCD, _SECOND], "elasticLauncher": launcher, "basePort": port},
        "policy": {"allow": ["hostNetwork"]},
    }
    result = compiled(folder, {"job.yaml": _yaml([platform, model])})
    assert not result.errors, result.errors
    return result


def _yaml(documents: list[Mapping[str, Any]]) -> str:
    return str(yaml.safe_dump_all([dict(each) for each in documents], sort_keys=False))


def _role(size: int, command: Sequence[str]) -> dict[str, Any]:
    container = {"name": CONTAINER, "image": _IMAGE, "command": [*command[:3]], "args": [*command[3:]]}
    return {"replicas": size, "template": {"spec": {"containers": [container]}}}
