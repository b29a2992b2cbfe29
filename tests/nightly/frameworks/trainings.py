"""Trainings of the launcher test, which read a dataset from a claim, and that claim."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.repositories import Result, compiled

CLAIM = "samples"
"""Name of the claim, and of the Dataset in it."""

_VALUES = random.Random(1)  # noqa: S311 - samples, no secrets


def training(
    folder: Path,
    framework: str,
    command: Sequence[str],
    *,
    engine: str = "core",
    nodes: int = 2,
    processes: int = 1,
    elastic: tuple[int, int] | None = None,
    restarts: int | None = None,
) -> Result:
    """A Training, compiled. It mounts the dataset at `folder`/data."""
    spec: dict[str, Any] = {
        "framework": framework,
        "image": "registry.example.com/ml/train:1",
        "command": list(command),
        "numNodes": nodes,
        "numProcPerNode": str(processes),
        "resourcesPerNode": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
        "datasets": [{"name": CLAIM, "mountPath": str(folder / "data")}],
    }
    if elastic:
        spec["elastic"] = {"min": elastic[0], "max": elastic[1]}
    if restarts is not None:
        spec["restart"] = {"max": restarts}
    documents = [
        {
            "apiVersion": "stowplan.dev/v1alpha1",
            "kind": "Platform",
            "images": {"registry": "registry.example.com/ml", "tag": "1"},
            "engines": {"jobs": engine, "peersTimeoutSeconds": 60},
        },
        _native("Dataset", CLAIM, {"volume": {"claim": {"name": CLAIM, "subPath": "train"}}}),
        _native("Training", "llama", spec),
    ]
    result = compiled(folder / "repo", {"job.yaml": str(yaml.safe_dump_all(documents, sort_keys=False))})
    assert not result.errors, result.errors
    return result


def claim(folder: Path) -> Path:
    """The new folder with the files of the claim: 64 rows of a linear function of two values."""
    files = folder / "claim"
    (files / "train").mkdir(parents=True)
    pairs = [(_VALUES.uniform(-1, 1), _VALUES.uniform(-1, 1)) for _ in range(64)]
    rows = [f"{first:.4f},{second:.4f},{2 * first - second + 0.5:.4f}\n" for first, second in pairs]
    (files / "train" / "samples.csv").write_text("".join(rows))
    return files


def _native(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ml"}
    return {"apiVersion": "stowplan.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
