"""Runs that wait for a dataset: those of version 0.1.0 stay as they are, and an edited one starts closed."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.library.dialects.training_group import waiting
from tests.unit.outputs import in_one_file

SPECS = """
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: flowers, namespace: ml}
spec:
  partitions: 1
  source: {uri: "s3://samples.s3.amazonaws.com/flowers/"}
  secretRef: {name: volume}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: net, namespace: ml}
spec:
  sampleSetRef: {name: flowers, mountPath: /data, wait: {}}
  worker: {replicas: 1, template: {spec: {containers: [{name: main, image: "registry.example.com/ml/net:1"}]}}}
"""
JOB = "out/ml/paddlejob-net/job-net-paddlejob-worker.yaml"
GATE = "out/ml/paddlejob-net/job-net-paddlejob-gate.yaml"


def synth(repo: Path, specs: str = SPECS) -> str:
    (repo / "specs").mkdir(exist_ok=True)
    (repo / "specs" / "specs.yaml").write_text(specs)
    (repo / "stowplan.yaml").write_text('kind: Platform\nimages: {registry: registry.example.com/ml, tag: "1"}\n')
    result = CliRunner().invoke(app, ["synth", str(repo)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as 0.1.0 left it: the job is open, and the inventory does not say what compiled its run."""
    with monkeypatch.context() as patched:
        patched.setattr(waiting, "_closable", lambda *_: False)
        synth(tmp_path)
    inventory = in_one_file(tmp_path / "out")
    lines = [json.loads(line) for line in inventory.read_text().splitlines()]
    inventory.write_text(
        "".join(f"{json.dumps({k: v for k, v in each.items() if k != 'compiled'})}\n" for each in lines)
    )
    return tmp_path


def test_open_run_of_an_older_version_is_not_touched(old: Path) -> None:
    before = (old / JOB).read_bytes()
    assert b"suspend" not in before
    synth(old)
    assert (old / JOB).read_bytes() == before
    assert not (old / GATE).exists()


def test_edited_run_is_a_new_one_that_is_closed(old: Path) -> None:
    before = yaml.safe_load((old / JOB).read_text())
    synth(old, SPECS.replace("net:1", "net:2"))
    now = yaml.safe_load((old / JOB).read_text())
    assert now["metadata"]["name"] != before["metadata"]["name"]
    assert (now["spec"]["suspend"], now["metadata"]["annotations"]["stowplan.dev/gate"]) == (True, "SampleSet flowers")
    assert (old / GATE).exists()


def test_closed_run_and_its_gate_stay_when_the_dataset_is_edited(tmp_path: Path) -> None:
    synth(tmp_path)
    before = [(tmp_path / each).read_bytes() for each in (JOB, GATE)]
    synth(tmp_path, SPECS.replace("partitions: 1", "partitions: 2"))
    assert [(tmp_path / each).read_bytes() for each in (JOB, GATE)] == before
