"""The hooks of this repository and of the starter, run by pre-commit at real commits.

They run the command in the environment of the tests: pre-commit's own environment for `language: python` would need a
release of Stowplan, or minutes.
"""

import subprocess

from tests.starter.repository import StarterRepository

SPEC = "specs/mnist-train.yaml"


def commit(repo: StarterRepository) -> subprocess.CompletedProcess[str]:
    repo.must("git", "add", "-A")
    return repo.run("git", "commit", "-m", "edit")


def results(output: str) -> set[str]:
    """`Passed`, `Failed`, `Skipped`, as pre-commit says them at the ends of its lines."""
    return {word for line in output.splitlines() for word in ("Passed", "Failed", "Skipped") if line.endswith(word)}


def test_an_edit_without_its_output_is_held_back(hooked: StarterRepository) -> None:
    hooked.edit(SPEC, "numNodes: 2", "numNodes: 3")
    done = commit(hooked)
    assert done.returncode == 1
    assert "Failed" in results(done.stdout)
    assert {"-  completions: 2", "+  completions: 3"} <= set(done.stdout.splitlines())
