"""Two branches of a Git repository that both change the output, and what a merge makes of it."""

import subprocess
from pathlib import Path

import pytest

from tests.unit.outputs import in_one_file
from tests.unit.users import SPEC, codes, diagnostics_of, laid_out, run

LIST = "out/_inventory/default/sampleset-imagenet.jsonl"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose output is up to date and committed on the branch `main`."""
    monkeypatch.chdir(laid_out(tmp_path))
    git("init", "-b", "main")
    synth("one")
    return tmp_path


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def synth(message: str, *, old: bool = False) -> None:
    """Compile and commit; `old` gives the output the inventory of version 0.1.0."""
    assert run("synth").exit_code == 0
    if old:
        in_one_file(Path("out"))
    git("add", "-A")
    git("commit", "-m", message)


def dataset(name: str, namespace: str = "default") -> str:
    named = SPEC.replace("name: imagenet\nspec", f"name: {name}\n  namespace: {namespace}\nspec")
    return named.replace("/data/", f"/data/{name}/")


@pytest.mark.parametrize("namespaces", [("default", "default"), ("mk", "ml")])
def test_branches_that_each_add_a_dataset_merge_without_a_conflict(repo: Path, namespaces: tuple[str, str]) -> None:
    for branch, namespace in zip(("left", "right"), namespaces, strict=True):
        git("checkout", "-b", branch, "main")
        (repo / f"specs/{branch}.yaml").write_text(dataset(branch, namespace))
        synth(branch)
    told = git("merge", "left")
    assert ("CONFLICT" in told, git("status", "--porcelain")) == (False, ""), told
    result = run("synth", "--check", "--base", "main")
    assert (result.exit_code, codes("synth")) == (0, []), result.output
    assert git("status", "--porcelain") == ""


def test_branches_that_edit_one_dataset_have_the_conflict_in_its_file_of_the_inventory(repo: Path) -> None:
    for branch, size in (("left", "2048"), ("right", "4096")):
        git("checkout", "-b", branch, "main")
        (repo / "specs/imagenet.yaml").write_text(SPEC.replace("1024", size))
        synth(branch)
    assert f"Merge conflict in {LIST}" in git("merge", "left")
    git("checkout", "--theirs", "specs")
    # Both have another warmup, since both have a larger cache.
    found, lost = diagnostics_of("synth")
    assert (found["code"], found["file"]) == ("SP511", LIST)
    assert (lost["code"], lost["file"].endswith("job-imagenet-warmup-0.yaml")) == ("SP513", True)
    assert f"git checkout --theirs {LIST}" in found["hint"]
    git("checkout", "--theirs", LIST)
    assert run("synth").exit_code == 0
    assert run("synth", "--check").exit_code == 0


def test_branches_of_0_1_0_in_conflict_are_repaired_as_the_hint_says(repo: Path) -> None:
    synth("one of 0.1.0", old=True)
    for branch in ("left", "right"):
        git("checkout", "-b", branch, "main")
        (repo / f"specs/{branch}.yaml").write_text(dataset(branch))
        synth(branch, old=True)
    assert "CONFLICT" in git("merge", "left")
    assert codes("synth") == ["error SP511"]
    git("checkout", "--theirs", "out/inventory.jsonl")
    result = run("synth")
    assert (result.exit_code, "starts when synced" in result.stdout) == (0, False)
    assert result.stdout.splitlines()[0] == "0 errors, 0 warnings, 0 infos"
    assert run("synth", "--check").exit_code == 0


@pytest.mark.parametrize("edited", [False, True], ids=["a new dataset", "an edited dataset"])
def test_a_branch_of_0_1_0_is_taken_over_after_the_merge(repo: Path, *, edited: bool) -> None:
    """Git leaves the old inventory of the other branch, or takes it for a file of the new one that was renamed.

    Its entries count where they agree with the files.
    """
    synth("one of 0.1.0", old=True)
    git("checkout", "-b", "old")
    if edited:
        (repo / "specs/imagenet.yaml").write_text(SPEC.replace("train/", "more/"))
    else:
        (repo / "specs/new.yaml").write_text(dataset("new"))
    synth("old", old=True)
    git("checkout", "-b", "taken-over", "main")
    synth("taken over")
    assert "CONFLICT" in git("merge", "old")
    git("checkout", "--theirs", LIST)
    result = run("synth")
    assert (result.exit_code, "starts when synced" in result.stdout) == (0, False)
    assert not Path("out/inventory.jsonl").exists()
    assert run("synth", "--check").exit_code == 0
