"""Specs cannot reach the agents' own directory, even on a case-insensitive file system."""

from pathlib import Path

import pytest

from tests.hostile.datasets import DATASET, codes

CLAIM = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec:
  source: {uri: "s3://data.s3.eu-central-1.amazonaws.com/train/"}
"""
PATHS = [".stowplan", "/.stowplan/locks/x", ".Stowplan/x", "a/../.stowplan", "./.STOWPLAN/x", "a/.stowplan"]
TASKS = [
    "type: rmr, rmrOptions: {paths: ['PATH']}",
    "type: warmup, warmupOptions: {paths: ['PATH']}",
    "type: warmup, warmupOptions: {file: 'PATH'}",
    "type: sync, secretRef: {name: a}, syncOptions: {source: s3://b.example.com/a/, destination: 'PATH'}",
]


def task(spec: str) -> str:
    head = "---\napiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\nmetadata: {name: work, namespace: ml}\n"
    return f"{head}spec: {{sampleSetRef: {{name: data}}, {spec}}}\n"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("spec", TASKS)
def test_a_task_cannot_name_it(tmp_path: Path, path: str, spec: str) -> None:
    assert codes(tmp_path, DATASET + task(spec.replace("PATH", path))) == {"SP405"}


@pytest.mark.parametrize("path", PATHS)
def test_it_is_no_place_for_a_dataset(tmp_path: Path, path: str) -> None:
    mounted = DATASET + f"  csi: {{juiceFSMountOptions: {{sub-dir: '{path}'}}}}\n"
    assert codes(tmp_path, mounted) == {"SP405"}
    (tmp_path / "claim").mkdir()
    claim = CLAIM + f"  csi: {{driver: pvc, claim: {{subPath: '{path}'}}}}\n"
    assert codes(tmp_path / "claim", claim) == {"SP405"}


def test_a_name_that_only_begins_so_is_taken(tmp_path: Path) -> None:
    assert codes(tmp_path, DATASET + task(TASKS[0].replace("PATH", "a/.stowplan.d"))) == set()
