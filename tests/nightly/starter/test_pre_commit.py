"""What pre-commit and its hooks say to commits of every sort."""

from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter.ci_files import Ci
from tests.repositories import REPOSITORY
from tests.starter.fixtures import HOOKS
from tests.starter.repository import StarterRepository
from tests.starter.test_pre_commit import SPEC, commit, results

JOB = "out/ml/training-mnist-train/job-mnist-train-training-node.yaml"


def test_the_files_are_what_pre_commit_reads(begun: StarterRepository) -> None:
    (begun.root / "commit.yaml").write_text(starter.files(ci=Ci.COMMIT)[".pre-commit-config.yaml"])
    begun.must("pre-commit", "validate-config", "commit.yaml")
    begun.must("pre-commit", "validate-manifest", str(HOOKS))
    begun.must("pre-commit", "validate-config", ".pre-commit-config.yaml", str(REPOSITORY / ".pre-commit-config.yaml"))


def test_an_edit_with_its_output_passes(hooked: StarterRepository) -> None:
    hooked.edit(SPEC, "numNodes: 2", "numNodes: 3")
    hooked.must("stowplan", "synth")
    done = commit(hooked)
    assert (done.returncode, results(done.stdout)) == (0, {"Passed"}), done.stdout


def test_a_mistake_stops_the_commit_and_is_reported(hooked: StarterRepository) -> None:
    line = hooked.edit(SPEC, "numNodes: 2", "numNode: 2")
    done = commit(hooked)
    assert (done.returncode, results(done.stdout)) == (1, {"Failed"})
    assert f"specs/mnist-train.yaml:{line}:3: error SP201" in done.stdout
    assert "Traceback" not in done.stdout


def test_an_edit_of_the_output_is_held_back(hooked: StarterRepository) -> None:
    hooked.edit(JOB, "completions: 2", "completions: 9")
    done = commit(hooked)
    assert done.returncode == 1
    assert "edited by hand: " in done.stdout


def test_other_files_are_no_concern(hooked: StarterRepository) -> None:
    (hooked.root / "README.md").write_text("# Data\n")
    done = commit(hooked)
    assert (done.returncode, results(done.stdout)) == (0, {"Skipped"})
