"""Rules of the platform file, and of a read-only mount."""

import json
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


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("  tolerations: [{key: gpu, operator: Exists}]\n", []),
        ("  csi: {juiceFSMountOptions: {open-cache: 60}}\n", []),
    ],
)
def test_an_edit_of_a_dataset_does_not_remove_data_once_more(tmp_path: Path, edit: str, expected: list[str]) -> None:
    removal = task("rmr", ", rmrOptions: {paths: [train]}")
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").touch()
    spec = tmp_path / "specs/data.yaml"
    synth = ["synth", str(tmp_path), "--format", "json"]
    spec.write_text(DATASET + removal)
    assert CliRunner().invoke(app, synth).exit_code == 0
    spec.write_text(DATASET + edit + removal)
    found = json.loads(CliRunner().invoke(app, synth).output)["diagnostics"]
    assert [each["code"] for each in found if each["severity"] == "error"] == expected


def test_an_edit_of_mount_options_restarts_the_cache_pods(tmp_path: Path) -> None:
    def configuration(name: str, text: str) -> str:
        (tmp_path / name).mkdir()
        outputs = compiled(tmp_path / name, {"data.yaml": text}).outputs
        (pods,) = (output.manifest.body["spec"] for output in outputs if output.manifest.kind == "StatefulSet")
        volumes = pods["template"]["spec"]["volumes"]
        return str(next(volume["configMap"]["name"] for volume in volumes if "configMap" in volume))

    edited = DATASET + "  csi: {juiceFSMountOptions: {open-cache: 60}}\n"
    assert configuration("before", DATASET) != configuration("after", edited)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (DATASET.replace("secretRef: {name: data}", "secretRef: {name: Bad_Name}"), ["SP210"]),
        (DATASET + "  cache: {levels: [{path: /, cacheSize: 10}]}\n", ["SP405"]),
        (DATASET + "  csi: {juiceFSMountOptions: {sub-dir: a/../..}}\n", ["SP405"]),
        (DATASET + "  csi: {juiceFSMountOptions: {free-space-ratio: '0.1_0'}}\n", ["SP205"]),
        (DATASET.replace("partitions: 1", "partitions: 5001"), ["SP205"]),
        (DATASET.replace("partitions: 1", "partitions: 100000000") + task("warmup"), ["SP205"]),
        (DATASET + task("rmr", ", rmrOptions: {paths: [.]}"), ["SP405"]),
        (DATASET + task("clear", ", clearOptions: {paths: [/dev/shm/data/../x]}"), ["SP416"]),
        (DATASET + task("warmup", ", warmupOptions: {threads: 0}"), ["SP205"]),
    ],
)
def test_values_that_the_cluster_or_juicefs_would_refuse_are_refused(
    tmp_path: Path, spec: str, expected: list[str]
) -> None:
    assert codes(tmp_path, spec) == expected


def test_a_long_name_fits_into_names_of_files(tmp_path: Path) -> None:
    outputs = compiled(tmp_path, {"data.yaml": DATASET + task("warmup").replace("name: work", f"name: {'w' * 250}")})
    assert outputs.errors == []
    assert max(len(part) for output in outputs.outputs for part in output.path.split("/")) < 255


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
