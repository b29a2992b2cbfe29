"""A volume's Secret gives access to the volume: a Secret of another namespace needs the platform's permission."""

from pathlib import Path

import pytest

from tests.repositories import compiled

PLATFORM = """\
kind: Platform
images: {registry: registry.example.com/ml, tag: "1"}
"""
GRANT = "policy: {crossNamespaceSecrets: [{specNamespace: ml, secretNamespace: finance}]"

DATASET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: NAMESPACE}
spec:
  partitions: 1
  secretRef: {name: prod-volume, namespace: finance}
"""
NO_SYNC = DATASET + "  noSync: true\n"
SYNC = DATASET + "  source: {uri: s3://bucket.s3.eu-central-1.amazonaws.com/train/}\n"
OWN = DATASET.replace(", namespace: finance", "")
SOURCE = OWN + "  source: {uri: s3://b.s3.eu-central-1.amazonaws.com/a/, secretRef: {name: keys, namespace: finance}}\n"
JOB = """\
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: copy, namespace: ml}
spec:
  type: sync
  sampleSetRef: {name: data}
  secretRef: {name: keys, namespace: finance}
  syncOptions: {source: "s3://b.s3.eu-central-1.amazonaws.com/a/"}
"""


def codes(folder: Path, text: str, policy: str = "", *, namespace: str = "ml") -> list[str]:
    text = f"{PLATFORM}{policy}\n---\n{text.replace('NAMESPACE', namespace)}"
    return [found.code for found in compiled(folder, {"data.yaml": text}).errors]


@pytest.mark.parametrize("text", [NO_SYNC, SYNC, SOURCE, OWN + "  noSync: true\n" + JOB])
def test_a_secret_of_another_namespace_is_refused_once(tmp_path: Path, text: str) -> None:
    assert codes(tmp_path, text) == ["SP303"]
    (tmp_path / "tasks").mkdir()
    assert codes(tmp_path / "tasks", text, "policy: {crossNamespaceTasks: true}") == ["SP303"]


def test_the_refused_dataset_has_no_volume(tmp_path: Path) -> None:
    result = compiled(tmp_path, {"data.yaml": f"{PLATFORM}---\n{NO_SYNC.replace('NAMESPACE', 'ml')}"})
    assert [each for each in result.outputs if each.manifest.kind == "PersistentVolume"] == []
    assert "policy.crossNamespaceSecrets" in result.errors[0].hint


def test_a_listed_pair_may_use_it(tmp_path: Path) -> None:
    assert codes(tmp_path, NO_SYNC, GRANT + "}") == []


def test_a_listed_pair_may_sync_where_the_platform_lets_tasks_go_there(tmp_path: Path) -> None:
    assert codes(tmp_path, SYNC, GRANT + "}") == ["SP303"]
    (tmp_path / "tasks").mkdir()
    assert codes(tmp_path / "tasks", SYNC, GRANT + ", crossNamespaceTasks: true}") == []


@pytest.mark.parametrize("namespace", ["vision", "m"])
def test_a_pair_is_for_its_own_namespace_alone(tmp_path: Path, namespace: str) -> None:
    assert codes(tmp_path, NO_SYNC, GRANT + "}", namespace=namespace) == ["SP303"]


def test_the_own_namespace_may_be_written_out(tmp_path: Path) -> None:
    assert codes(tmp_path, NO_SYNC, namespace="finance") == []
