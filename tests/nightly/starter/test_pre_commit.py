"""The hooks of this repository and of the starter, run by pre-commit at real commits.

They run the command in the environment of the tests: pre-commit's own environment for `language: python` would need a
release of Stowplan, or minutes.
"""

import subprocess

import pytest
from ruamel.yaml import YAML

from stowplan.compiler.generate import starter
from tests.repositories import REPOSITORY
from tests.starter.repository import StarterRepository

SPEC, JOB = "specs/mnist-train.yaml", "out/ml/training-mnist-train/job-mnist-train-training-node.yaml"
MANIFEST = REPOSITORY / ".pre-commit-hooks.yaml"


def installed(text: str) -> str:
    """Hooks that run the installed command."""
    lines = text.replace("language: python", "language: system").splitlines()
    changed = "\n".join(line for line in lines if "additional_dependencies" not in line) + "\n"
    assert changed.count("language: system") == text.count("entry: stowplan")
    return changed


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> StarterRepository:
    """A repository with our hooks, as the one that is named in users' configurations."""
    repo = StarterRepository(tmp_path_factory.mktemp("hooks") / "stowplan")
    repo.root.mkdir()
    (repo.root / MANIFEST.name).write_text(installed(MANIFEST.read_text()))
    for command in ("git init -q", "git add -A", "git commit -qm hooks"):
        repo.must(*command.split())
    return repo


@pytest.fixture(params=["starter", "hooks"])
def repo(request: pytest.FixtureRequest, begun: StarterRepository, hooks: StarterRepository) -> StarterRepository:
    """A repository with the hooks installed: those of the starter's configuration, or those of ours."""
    config = begun.root / ".pre-commit-config.yaml"
    if request.param == "starter":
        config.write_text(installed(config.read_text()))
    else:
        revision = hooks.must("git", "rev-parse", "HEAD").strip()
        used = [{"id": each["id"]} for each in YAML(typ="safe").load(MANIFEST)]
        YAML().dump({"repos": [{"repo": str(hooks.root), "rev": revision, "hooks": used}]}, config)
    begun.must("pre-commit", "install")
    begun.must("git", "add", "-A")
    begun.must("git", "commit", "--allow-empty", "-qm", "hooks")
    return begun


def commit(repo: StarterRepository) -> subprocess.CompletedProcess[str]:
    repo.must("git", "add", "-A")
    return repo.run("git", "commit", "-m", "edit")


def results(output: str) -> set[str]:
    """`Passed`, `Failed`, `Skipped`, as pre-commit says them at the ends of its lines."""
    return {word for line in output.splitlines() for word in ("Passed", "Failed", "Skipped") if line.endswith(word)}


def test_the_files_are_what_pre_commit_reads(begun: StarterRepository) -> None:
    (begun.root / "commit.yaml").write_text(starter.files(ci=starter.Ci.COMMIT)[".pre-commit-config.yaml"])
    begun.must("pre-commit", "validate-config", "commit.yaml")
    begun.must("pre-commit", "validate-manifest", str(MANIFEST))
    begun.must("pre-commit", "validate-config", ".pre-commit-config.yaml", str(REPOSITORY / ".pre-commit-config.yaml"))


def test_an_edit_with_its_output_passes(repo: StarterRepository) -> None:
    repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    repo.must("stowplan", "synth")
    done = commit(repo)
    assert (done.returncode, results(done.stdout)) == (0, {"Passed"}), done.stdout


def test_an_edit_without_its_output_is_held_back(repo: StarterRepository) -> None:
    repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    done = commit(repo)
    assert done.returncode == 1
    assert "Failed" in results(done.stdout)
    assert {"-  completions: 2", "+  completions: 3"} <= set(done.stdout.splitlines())


def test_a_mistake_stops_the_commit_and_is_reported(repo: StarterRepository) -> None:
    line = repo.edit(SPEC, "numNodes: 2", "numNode: 2")
    done = commit(repo)
    assert (done.returncode, results(done.stdout)) == (1, {"Failed"})
    assert f"specs/mnist-train.yaml:{line}:3: error SP201" in done.stdout
    assert "Traceback" not in done.stdout


def test_an_edit_of_the_output_is_held_back(repo: StarterRepository) -> None:
    repo.edit(JOB, "completions: 2", "completions: 9")
    done = commit(repo)
    assert done.returncode == 1
    assert "edited by hand: " in done.stdout


def test_other_files_are_no_concern(repo: StarterRepository) -> None:
    (repo.root / "README.md").write_text("# Data\n")
    done = commit(repo)
    assert (done.returncode, results(done.stdout)) == (0, {"Skipped"})
