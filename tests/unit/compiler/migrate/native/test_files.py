"""`stowplan migrate --to native` as a command: files, folders, other specs of the repository, and the platform file."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from tests.unit.compiler.migrate.native.migrated import migrated, spec

SET = spec("SampleSet", "partitions: 1\nnoSync: true\nsecretRef: {name: volume}", "data")
WORKERS = "worker: {replicas: 2, template: {spec: {containers: [{name: a, image: b:1}]}}}"
JOB = spec("PaddleJob", f"sampleSetRef: {{name: data, mountPath: /data}}\n{WORKERS}", "job")
SERVERS = JOB.replace("worker:", "ps:").replace("name: job", "name: servers")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ("migrate", *arguments), catch_exceptions=False)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").write_text("")
    return tmp_path


def test_a_folder(repo: Path) -> None:
    (repo / "specs/data.yaml").write_text(SET)
    (repo / "specs/job.yaml").write_text(JOB)
    checked = run("specs", "--to", "native", "--check")
    assert (checked.exit_code, (repo / "specs/job.yaml").read_text()) == (1, JOB)
    assert "would rewrite specs/data.yaml\nwould rewrite specs/job.yaml\n" in checked.output
    done = run("specs", "--to", "native")
    assert done.exit_code == 0
    assert "rewrote specs/data.yaml\nrewrote specs/job.yaml\n" in done.output
    kinds = [yaml.safe_load((repo / f"specs/{name}.yaml").read_text())["kind"] for name in ("data", "job")]
    assert kinds == ["Dataset", "Training"]
    assert run("specs", "--to", "native").output.endswith("Nothing to rewrite.\n")


def test_specs_of_the_repository_that_are_not_named_count(repo: Path) -> None:
    (repo / "specs/data.yaml").write_text(SET)
    (repo / "specs/job.yaml").write_text(JOB)
    done = run("specs/data.yaml", "--to", "native")
    assert "SP427: This SampleSet stays, since specs that refer to it stay: PaddleJob ml/job." in done.output
    assert (repo / "specs/data.yaml").read_text() == SET


def test_nothing_is_rewritten_if_a_spec_has_errors(repo: Path) -> None:
    (repo / "specs/data.yaml").write_text(SET)
    (repo / "specs/job.yaml").write_text(JOB.replace("mountPath", "mountPoint"))
    done = run("specs", "--to", "native")
    assert done.exit_code == 1
    assert "SP201" in done.output
    assert (repo / "specs/data.yaml").read_text() == SET


def test_the_platform_decides_what_the_old_kind_left_to_it(repo: Path) -> None:
    platform = "defaultNamespace: ml\njuicefs: {warmupAfterSync: false, cacheSize: 99}\nengines: {gang: volcano}\n"
    (repo / "stowplan.yaml").write_text(platform)
    (repo / "specs/data.yaml").write_text(SET)
    policy = "schedulingPolicy: {queue: long, priorityClass: high, minAvailable: 2}"
    job = JOB.replace(", namespace: ml", "").replace("spec:\n", f"spec:\n  {policy}\n")
    (repo / "specs/job.yaml").write_text(job)
    assert run("specs", "--to", "native").exit_code == 0
    cache = yaml.safe_load((repo / "specs/data.yaml").read_text())["spec"]["cache"]
    assert cache == {"nodes": 1, "tiers": [{"path": "/dev/shm/data", "size": "99Mi"}], "warmup": "none"}
    training = yaml.safe_load((repo / "specs/job.yaml").read_text())
    assert training["metadata"] == {"name": "job"}
    assert training["spec"]["scheduling"] == {"queue": "long", "priority": "high"}


def test_volumes_with_names_of_the_old_operator_stay(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text("names: upstream\n")
    (repo / "specs/data.yaml").write_text(SET)
    assert "SP427: The platform has `names: upstream`" in run("specs", "--to", "native").output
    assert (repo / "specs/data.yaml").read_text() == SET


def test_a_platform_file_with_errors(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text("nothing: 1\n")
    (repo / "specs/data.yaml").write_text(SET)
    done = run("specs", "--to", "native")
    assert (done.exit_code, "SP201" in done.output) == (1, True)
    assert (repo / "specs/data.yaml").read_text() == SET


def test_a_dataset_stays_with_one_of_its_users() -> None:
    result = migrated(f"{SET}---\n{JOB}---\n{SERVERS}")
    assert result.reasons == [("SP427", "metadata.name"), ("SP427", "spec.sampleSetRef.name"), ("SP427", "spec.ps")]
    assert result.texts == {}


def test_legacy_spellings_go_with_the_kind_alone() -> None:
    old = JOB.replace("name: job", "name: job, uid: a").replace("sampleSetRef", "status: {}\n  sampleSetRef")
    alone = spec("PaddleJob", WORKERS, "alone").replace("name: alone", "name: alone, uid: a")
    result = migrated(f"{old.replace('  status: {}', '')}---\n{alone}")
    assert result.document(1) == {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "Training",
        "metadata": {"name": "alone", "namespace": "ml"},
        "spec": {
            "framework": "paddle",
            "image": "b:1",
            "numNodes": 2,
            "template": {"spec": {"securityContext": {"runAsNonRoot": False}}},
        },
    }
    assert "uid: a" in result.texts["0.yaml"]
