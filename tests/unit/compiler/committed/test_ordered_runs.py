"""Runs of jobs that run after other specs, over several commands."""

import json
from pathlib import Path

import yaml
from typer.testing import CliRunner

from stowplan.compiler.cli import app

DATA = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec: {partitions: 1, noSync: true, secretRef: {name: data}}
"""
CLEAN = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: clean, namespace: ml}
spec: {type: rmr, sampleSetRef: {name: data}, rmrOptions: {paths: [old]}}
"""
NET = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: net, namespace: ml}
spec: {framework: none, image: "registry.example.com/ml/net:1"}
"""
AFTER = NET.replace('net:1"', 'net:1", runAfter: [{kind: SampleJob, name: clean}]')
RUN = Path("out/ml/training-net")


def synth(repo: Path, fails: int = 0, **specs: str) -> str:
    (repo / "specs").mkdir(exist_ok=True)
    for name, text in specs.items():
        (repo / "specs" / f"{name}.yaml").write_text(text)
    (repo / "stowplan.yaml").write_text('kind: Platform\nimages: {registry: registry.example.com/ml, tag: "1"}\n')
    result = CliRunner().invoke(app, ["synth", str(repo)])
    assert result.exit_code == fails, result.output
    return result.output


def files(repo: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((repo / RUN).iterdir())}


def awaited(repo: Path) -> str:
    (config,) = [each for each in (repo / RUN).iterdir() if each.name.startswith("configmap-") and "gate" in each.name]
    (text,) = yaml.safe_load(config.read_text())["data"].values()
    return str(json.loads(text)["waits"][0]["run"])


def test_synth_says_what_a_run_starts_after(tmp_path: Path) -> None:
    said = [line.rpartition("-")[0] for line in synth(tmp_path, data=DATA, clean=CLEAN, net=AFTER).splitlines()]
    assert "starts when synced: Job ml/clean-samplejob" in said
    assert "starts after SampleJob clean: Job ml/net-training-node" in said
    assert not [line for line in said if line.startswith("starts when synced: Job ml/net-")]


def test_closed_run_and_its_gate_stay_when_what_it_runs_after_is_edited(tmp_path: Path) -> None:
    synth(tmp_path, data=DATA, clean=CLEAN, net=AFTER)
    before = files(tmp_path)
    synth(tmp_path, clean=CLEAN.replace("{name: clean,", '{name: clean, annotations: {stowplan.dev/run: "2"},'))
    assert files(tmp_path) == before


def test_job_that_is_edited_waits_for_the_present_run_although_the_other_file_is_unchanged(tmp_path: Path) -> None:
    synth(tmp_path, data=DATA, clean=CLEAN, net=AFTER)
    synth(tmp_path, net=AFTER.replace("net:1", "net:2"))
    (task,) = (tmp_path / "out/ml/samplejob-clean").glob("job-*.yaml")
    assert yaml.safe_load(task.read_text())["metadata"]["name"].endswith(awaited(tmp_path))


def test_job_that_is_to_run_after_another_is_a_new_closed_run(tmp_path: Path) -> None:
    synth(tmp_path, data=DATA, clean=CLEAN, net=NET)
    (job,) = (tmp_path / RUN).glob("job-*.yaml")
    before = yaml.safe_load(job.read_text())
    synth(tmp_path, net=AFTER)
    now = yaml.safe_load(job.read_text())
    assert "suspend" not in before["spec"]
    assert now["spec"]["suspend"] is True
    assert now["metadata"]["name"] != before["metadata"]["name"]


def test_output_is_the_same_from_the_cache(tmp_path: Path) -> None:
    synth(tmp_path, data=DATA, clean=CLEAN, net=AFTER)
    before = files(tmp_path)
    synth(tmp_path, other=NET.replace("name: net", "name: other"))
    assert files(tmp_path) == before
