"""What the platform file refuses, and what a read-only mount rules out."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from tests.repositories import compiled

DATASET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec:
  partitions: 1
  secretRef: {name: data}
  source: {uri: s3://samples.s3.eu-west-1.amazonaws.com/data/}
"""
READ_ONLY = DATASET + "  csi: {juiceFSMountOptions: {read-only: true}}\n"


def task(kind: str, options: str = "") -> str:
    return f"""\
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: work, namespace: ml}}
spec: {{type: {kind}, sampleSetRef: {{name: data}}{options}}}
"""


def codes(repo: Path, text: str) -> list[str]:
    return [found.code for found in compiled(repo, {"data.yaml": text}).errors]


def test_a_read_only_dataset_is_not_warmed_after_its_sync(tmp_path: Path) -> None:
    outputs = compiled(tmp_path, {"data.yaml": READ_ONLY}).outputs
    assert [output.manifest.stem for output in outputs if output.manifest.kind == "Job"] == ["data-sync"]


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("warmup", "", ["SP413"]),
        ("clear", "", ["SP413"]),
        ("rmr", ", rmrOptions: {paths: [a]}", ["SP413"]),
        ("sync", ", secretRef: {name: data}, syncOptions: {source: 's3://samples.s3.amazonaws.com/more/'}", []),
    ],
)
def test_only_a_sync_works_on_a_read_only_dataset(tmp_path: Path, kind: str, options: str, expected: list[str]) -> None:
    assert codes(tmp_path, READ_ONLY + task(kind, options)) == expected


def platform(namespaces: str) -> str:
    return f"""\
kind: Platform
argocd:
  repoURL: https://git.example.com/ml.git
  destination: {{namespaces: {namespaces}}}

---
"""


@pytest.mark.parametrize(
    ("namespaces", "expected"), [("['*']", []), ("[ml]", []), ("['m*']", []), ("[vision, data]", ["SP601"])]
)
def test_a_spec_must_be_where_argo_cd_may_sync(tmp_path: Path, namespaces: str, expected: list[str]) -> None:
    assert codes(tmp_path, platform(namespaces) + DATASET) == expected


def test_a_run_to_renew_must_exist(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").touch()
    (tmp_path / "specs/data.yaml").write_text(DATASET)
    result = CliRunner().invoke(app, ["synth", str(tmp_path), "--recompile", "date"])
    assert (result.exit_code, "There is no spec date" in result.output) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_renewed_run_is_no_error_where_replaced_runs_are(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    settings = tmp_path / "stowplan.yaml"
    settings.write_text("policy: {rerun: error}\n")
    (tmp_path / "specs/data.yaml").write_text(DATASET)
    synth = ["synth", str(tmp_path)]
    assert CliRunner().invoke(app, synth).exit_code == 0
    settings.write_text("policy: {rerun: error}\nimages: {registry: registry.example.com/new}\n")
    assert "starts when synced" not in CliRunner().invoke(app, synth).output
    renewed = CliRunner().invoke(app, [*synth, "--recompile", "data"])
    assert (renewed.exit_code, "starts when synced: Job ml/data-sync-" in renewed.output) == (0, True)
