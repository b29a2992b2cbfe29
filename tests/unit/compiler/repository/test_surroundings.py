"""What `synth` says of `argocd.name` and `argocd.path` in a Git work tree."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git, path: data/out}
"""
SPEC = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist, namespace: ml}
spec: {framework: torch, image: "registry.example.com/ml/mnist:1", command: [python, train.py]}
"""
ENVIRONMENTS = """\
environments: [{name: dev}, {name: prod, set: {argocd: {destination: {server: "https://prod.example.com"}}}}]
"""


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in the folder `data` of a Git work tree, which the test is in."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "tree/data"
    (folder / "specs").mkdir(parents=True)
    (folder / "stowplan.yaml").write_text(PLATFORM)
    (folder / "specs/mnist.yaml").write_text(SPEC)
    git(folder.parent, "init", "--quiet")
    monkeypatch.chdir(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def add_other(repo: Path) -> None:
    """Add another repository to the work tree."""
    other = repo.parent / "models/stowplan.yaml"
    other.parent.mkdir()
    other.write_text(PLATFORM)
    git(repo.parent, "add", ".")


def synth(*options: str) -> Result:
    return CliRunner().invoke(app, ["synth", *options], catch_exceptions=False)


@pytest.mark.parametrize("more", ["", ENVIRONMENTS])
def test_nothing_is_said_of_one_repository_whose_path_leads_to_its_output(repo: Path, more: str) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM + more)
    workflow = repo.parent / ".github/workflows/stowplan.yaml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("on: [push]\n")
    git(repo.parent, "add", ".")
    assert "SP81" not in synth().output.replace("SP810", "")


@pytest.mark.parametrize("more", ["", ENVIRONMENTS])
def test_a_path_that_does_not_lead_to_the_output_is_a_warning(repo: Path, more: str) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace(", path: data/out", "") + more)
    first, second = synth(), synth()
    for result in (first, second):
        assert result.exit_code == 0
        assert "stowplan.yaml:2:" in result.output
        assert result.output.count("warning SP814: Argo CD looks for the output at out of") == 1
        assert "Write `path: data/out`" in result.output
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("data/out", "./data/out/") + more)
    assert "SP814" not in synth().output


@pytest.mark.parametrize("more", ["", ENVIRONMENTS])
def test_the_default_name_beside_another_platform_file_is_a_warning(repo: Path, more: str) -> None:
    """Also if the other one is added after a command whose result is remembered."""
    (repo / "stowplan.yaml").write_text(PLATFORM + more)
    assert "SP813" not in synth().output
    add_other(repo)
    for result in (synth(), synth()):
        assert result.output.count("SP813: This Git work tree has another platform file, models/stowplan.yaml") == 1
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("path:", "name: stowplan, path:") + more)
    assert "SP813" not in synth().output


@pytest.mark.parametrize("more", ["", ENVIRONMENTS])
def test_another_name_than_the_committed_one_is_an_error(repo: Path, more: str) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM + more)
    assert synth().exit_code == 0
    named = PLATFORM.replace("path:", "name: data, path:") + more
    (repo / "stowplan.yaml").write_text(named)
    for result in (synth(), synth("--check")):
        assert result.exit_code == 1
        assert "SP812" in result.output
    before = "stowplan-dev" if more else "stowplan"
    assert f"called {before} until now, and would be called {before.replace('stowplan', 'data')}." in result.output


def test_another_name_is_no_error_once_the_argo_cd_objects_are_deleted(repo: Path) -> None:
    synth()
    for file in (repo / "out/argocd").iterdir():
        file.unlink()
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("path:", "name: data, path:"))
    assert synth().exit_code == 0
    assert (repo / "out/argocd/application-data-ns-ml.yaml").is_file()
