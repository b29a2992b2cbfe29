"""`synth` over a committed output: training restarts only if its spec requires it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.library.values.names import HASH_LENGTH
from tests.unit.users import diagnostics_of, laid_out, run

PLATFORM = """\
images: {{registry: registry.example.com/ml, tag: "{tag}"}}
engines: {{jobs: {jobs}, helperTimeoutSeconds: {timeout}}}
paddle: {{elasticServers: ["etcd.ml:2379"]}}
"""
JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: wide
spec:
  cleanPodPolicy: Never
  ps:
    replicas: 1
    template:
      spec:
        containers:
          - name: paddle
            image: registry.example.com/ml/wide:1
  worker:
    replicas: 2
    template:
      spec:
        containers:
          - name: paddle
            image: registry.example.com/ml/wide:1
"""
ELASTIC = JOB.replace("  ps:\n", "  elastic: 1\n  worker:\n", 1).partition("  worker:\n    replicas: 2")[0]
ENGINES = ["core", "jobset"]
KINDS = {"core": ("job",), "jobset": ("jobset",)}


def compiled(repo: Path, spec: str = JOB, *, jobs: str = "core", tag: str = "1", timeout: int = 300) -> str:
    """Write the specs and return the output of `synth`."""
    laid_out(repo, spec, PLATFORM.format(tag=tag, jobs=jobs, timeout=timeout))
    result = run("synth", str(repo))
    assert result.exit_code == 0, result.output
    return result.output


def files(repo: Path, *kinds: str) -> dict[str, str]:
    """The committed objects of the run."""
    found = sorted((repo / "out/default/paddlejob-wide").glob("*.yaml"))
    return {path.name: path.read_text() for path in found if path.name.partition("-")[0] in kinds}


RUN = ("configmap", "job", "jobset", "role", "rolebinding", "service")


@pytest.mark.parametrize("jobs", ENGINES)
def test_newer_agents_and_other_timeouts_leave_a_run_alone(tmp_path: Path, jobs: str) -> None:
    assert "starts when synced" in compiled(tmp_path, jobs=jobs)
    before = files(tmp_path, *RUN)
    said = compiled(tmp_path, jobs=jobs, tag="2", timeout=10)
    assert files(tmp_path, *RUN) == before
    assert "starts when synced" not in said
    assert "SP54" not in said


@pytest.mark.parametrize("jobs", ENGINES)
def test_an_edit_that_no_pod_depends_on_leaves_a_run_alone(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = files(tmp_path, *RUN)
    said = compiled(tmp_path, JOB.replace("cleanPodPolicy: Never", "cleanPodPolicy: Always"), jobs=jobs)
    assert files(tmp_path, *RUN) == before
    assert "starts when synced" not in said
    assert "SP54" not in said


@pytest.mark.parametrize("jobs", ENGINES)
def test_an_edit_of_a_pod_is_reported_at_its_field(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = names(tmp_path, jobs)
    laid_out(tmp_path, JOB.replace("wide:1", "wide:2", 1), PLATFORM.format(tag="1", jobs=jobs, timeout=300))
    (found,) = [each for each in diagnostics_of("synth", str(tmp_path)) if each["code"] == "SP542"]
    assert (found["fieldPath"], found["severity"]) == ("spec.ps.template.spec.containers[0].image", "warning")
    assert any(name in found["message"] for name in before)
    assert not before & names(tmp_path, jobs)


@pytest.mark.parametrize("jobs", ENGINES)
def test_a_requested_new_run_is_not_reported(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = names(tmp_path, jobs)
    bumped = JOB.replace("  name: wide\n", '  name: wide\n  annotations: {stowplan.dev/run: "2"}\n')
    said = compiled(tmp_path, bumped, jobs=jobs)
    assert not before & names(tmp_path, jobs)
    assert "SP54" not in said


@pytest.mark.parametrize("jobs", ENGINES)
def test_an_elastic_job_is_scaled_in_place(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, ELASTIC, jobs=jobs)
    before = yaml.safe_load(files(tmp_path, "job")["job-wide-paddlejob-worker.yaml"])
    said = compiled(tmp_path, ELASTIC.replace("replicas: 1", "replicas: 7"), jobs=jobs)
    after = yaml.safe_load(files(tmp_path, "job")["job-wide-paddlejob-worker.yaml"])
    assert "SP54" not in said
    assert before["metadata"] == after["metadata"]
    changed = {key for key in after["spec"] if before["spec"][key] != after["spec"][key]}
    assert changed == {"backoffLimit", "completions", "parallelism"}


def names(repo: Path, jobs: str) -> set[str]:
    found: dict[str, Any] = {name: yaml.safe_load(text) for name, text in files(repo, *KINDS[jobs]).items()}
    whole = {body["metadata"]["name"] for body in found.values()}
    assert len({name[-HASH_LENGTH:] for name in whole}) == 1
    return whole
