"""`stowplan status` on a real API server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.generate import starter
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster

NAMESPACE = "status"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster, served: dict[str, Manifest]) -> Path:
    """The starter repository in a namespace of its own, with nothing of it in the cluster."""
    folder = tmp_path_factory.mktemp("status")
    starter.write(folder, legacy=True)
    platform = folder / "stowplan.yaml"
    platform.write_text(platform.read_text().replace("defaultNamespace: ml", f"defaultNamespace: {NAMESPACE}"))
    assert CliRunner().invoke(app, ["synth", str(folder)]).exit_code == 0
    cluster.namespace(NAMESPACE)
    return folder


def run(cluster: Cluster, repo: Path, *arguments: str) -> Result:
    words = ["status", str(repo), "--kubeconfig", str(cluster.kubeconfig), *arguments]
    return CliRunner().invoke(app, words, catch_exceptions=False)


def told(cluster: Cluster, repo: Path) -> dict[str, tuple[str, str, str]]:
    """Phase, health and reason by kind."""
    specs = json.loads(run(cluster, repo, "--format", "json").output)["specs"]
    return {each["kind"]: (each["phase"], each["health"], each["reason"]) for each in specs}


def make(cluster: Cluster, api_version: str, kind: str, name: str, status: Manifest) -> Manifest:
    made = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {}}
    live = cluster.admin.apply(made)
    cluster.admin.request(
        "PATCH", cluster.admin.path(live, "status"), {"status": status}, "application/merge-patch+json"
    )
    return live


def test_from_nothing_to_ready(cluster: Cluster, repo: Path) -> None:
    nothing = ("", "Missing", "It is not in the cluster")
    assert told(cluster, repo) == {"PaddleJob": nothing, "SampleSet": nothing}
    assert run(cluster, repo).exit_code == 1
    dataset = make(cluster, "batch.paddlepaddle.org/v1alpha1", "SampleSet", "mnist", {"phase": "Syncing"})
    job = make(cluster, "batch.paddlepaddle.org/v1", "PaddleJob", "mnist-train", {"phase": "Pending"})
    assert told(cluster, repo)["SampleSet"] == ("Syncing", "Progressing", "The samples are being copied")
    assert run(cluster, repo).exit_code == 0
    ready = {"phase": "Ready", "cacheStatus": {"totalSize": "4.2 GiB", "cachedSize": "1.0 GiB"}}
    make(cluster, "batch.paddlepaddle.org/v1alpha1", "SampleSet", "mnist", ready)
    failed = {"phase": "Failed", "conditions": [condition("Failed", "the image is missing")]}
    make(cluster, "batch.paddlepaddle.org/v1", "PaddleJob", "mnist-train", failed)
    done = run(cluster, repo)
    assert done.exit_code == 1
    rows = [line.split() for line in done.output.splitlines()]
    assert rows[0] == ["SPEC", "PHASE", "PROGRESS", "HEALTH", "AGE", "REASON"]
    assert rows[1][:4] == ["PaddleJob", f"{NAMESPACE}/mnist-train", "Failed", "Degraded"]
    assert " ".join(rows[1]).endswith("the image is missing")
    assert " ".join(rows[2]).startswith(f"SampleSet {NAMESPACE}/mnist Ready 1.0 GiB of 4.2 GiB cached Healthy")
    assert done.output.endswith("2 specs: 1 Degraded, 1 Healthy\n")
    for each in (dataset, job):
        cluster.admin.delete(each)


def condition(kind: str, message: str) -> Manifest:
    return {
        "type": kind,
        "status": "True",
        "reason": "Said",
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize("arguments", [("--context", "nothing"), ("--kubeconfig", "/nothing")])
def test_a_cluster_that_cannot_be_read(cluster: Cluster, repo: Path, arguments: tuple[str, str]) -> None:
    done = run(cluster, repo, *arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_a_cluster_that_does_not_answer(cluster: Cluster, repo: Path, tmp_path: Path) -> None:
    text = cluster.kubeconfig.read_text().replace(cluster.trust.server, "https://127.0.0.1:9")
    (tmp_path / "config").write_text(text)
    done = run(cluster, repo, "--kubeconfig", str(tmp_path / "config"))
    assert done.exit_code == 1
    assert "cannot be reached" in " ".join(done.output.split())


def test_specs_with_errors(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").touch()
    (tmp_path / "specs/a.yaml").write_text("kind: SampleSet\n")
    done = run(cluster, tmp_path)
    assert done.exit_code == 1
    assert "SP208" in done.output


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster, served: dict[str, Manifest]) -> Path:
    """The starter repository with two environments; in the second one runs are started by hand."""
    folder = tmp_path_factory.mktemp("environments")
    starter.write(folder)
    platform = folder / "stowplan.yaml"
    text = platform.read_text().replace("defaultNamespace: ml", f"defaultNamespace: {NAMESPACE}")
    platform.write_text(f"{text}\nenvironments:\n- name: dev\n- name: prod\n  runs: manual\n")
    for spec in (folder / "specs").iterdir():
        spec.write_text(spec.read_text().replace("  namespace: ml\n", f"  namespace: {NAMESPACE}\n"))
    assert CliRunner().invoke(app, ["synth", str(folder)]).exit_code == 0
    cluster.namespace(NAMESPACE)
    return folder


def test_a_run_that_waits_to_be_started_says_how_to_start_it(cluster: Cluster, environments: Path) -> None:
    found = {each["kind"]: each for each in _specs(run(cluster, environments, "--env", "prod", "--format", "json"))}
    assert found["Training"]["reason"].startswith("The run ")
    entry = re.search(r"\{kind: Training, .*, run: [a-z2-7]{8}\}", found["Training"]["reason"])
    assert entry
    assert found["Dataset"]["reason"] == "It is not in the cluster"
    assert "is not started: `start` of prod does not name it." in run(cluster, environments, "--env", "prod").output
    assert "is not started" not in run(cluster, environments, "--env", "dev").output

    platform = environments / "stowplan.yaml"
    before = platform.read_text()
    platform.write_text(f"{before}  start:\n  - {entry[0]}\n")
    (started,) = (
        each
        for each in _specs(run(cluster, environments, "--env", "prod", "--format", "json"))
        if each["kind"] == "Training"
    )
    platform.write_text(before)
    assert started["reason"] == "It is not in the cluster"


def test_status_wants_one_environment(cluster: Cluster, environments: Path) -> None:
    done = run(cluster, environments)
    assert done.exit_code == 2
    assert "Name one of the environments: dev, prod." in " ".join(done.output.replace("│", " ").split())


def _specs(done: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done.output)["specs"]
    return found
