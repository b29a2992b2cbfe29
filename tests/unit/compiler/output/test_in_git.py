"""What Git holds of the output folder is compared with the disk."""

import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.output.in_git import problems

COMMIT = "1" * 40


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose output is committed."""
    (tmp_path / "repo/out/ml").mkdir(parents=True)
    (tmp_path / "repo/out/ml/a.yaml").write_text("kind: ConfigMap\n")
    git(tmp_path / "repo", "init", "-q")
    commit(tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(repo: Path) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")


def hold(repo: Path, path: str, mode: str) -> None:
    """Put an entry into the index alone."""
    held = COMMIT if mode == "160000" else git(repo, "hash-object", "-w", "stowplan.yaml")
    git(repo, "update-index", "--add", "--replace", "--cacheinfo", f"{mode},{held},{path}")


def found(repo: Path, out: str = "out") -> list[tuple[str, str]]:
    return [(each.code, each.location.file) for each in problems(repo / out, repo)]


def test_what_git_holds_as_it_is_is_no_problem(repo: Path, in_ci: None) -> None:
    assert found(repo) == []


@pytest.mark.parametrize("path", ["out/argocd/more", "out/.h/more", "out/ml/a.yaml", "out"])
@pytest.mark.parametrize("mode", ["160000", "120000"])
def test_submodules_and_links_are_found_whatever_the_disk_shows(repo: Path, path: str, mode: str) -> None:
    (repo / "stowplan.yaml").write_text("")
    hold(repo, path, mode)
    assert found(repo) == [("SP538", path)]
    git(repo, "rm", "-q", "--cached", "--force", "--", path)
    assert found(repo) == []


def test_entries_elsewhere_are_none(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text("")
    hold(repo, "outside", "160000")
    hold(repo, "link", "120000")
    assert found(repo) == []


def test_submodule_that_is_the_output_is_found_when_it_is_checked_out(repo: Path) -> None:
    """It has an index of its own, where nothing is wrong."""
    git(repo, "rm", "-rq", "out")
    (repo / "out/ml").mkdir(parents=True)
    (repo / "out/ml/a.yaml").write_text("kind: ConfigMap\n")
    git(repo / "out", "init", "-q")
    commit(repo / "out")
    git(repo, "add", "out")
    assert found(repo) == [("SP538", "out")]


@pytest.mark.parametrize("other", ["../other", "below"])
def test_another_repository_may_hold_the_output(repo: Path, in_ci: None, other: str) -> None:
    """Beside this one, or in a folder of it that it does not hold."""
    (repo / other / "out").mkdir(parents=True)
    (repo / other / "out/a.yaml").write_text("")
    git(repo / other, "init", "-q")
    commit(repo / other)
    assert found(repo, f"{other}/out") == []
    (repo / other / "out/a.yaml").write_text("a: 1\n")
    assert found(repo, f"{other}/out") == [("SP539", "out/a.yaml")]


@pytest.mark.parametrize("path", ["out/ml/a.yaml", "out/ml/new.yaml"])
def test_what_was_written_after_the_commit_is_found_in_ci(repo: Path, in_ci: None, path: str) -> None:
    (repo / path).write_text("kind: Secret\n")
    assert found(repo) == [("SP539", path)]
    git(repo, "add", "-A")
    assert found(repo) == []


def test_files_that_only_git_has_are_found_in_ci(repo: Path, in_ci: None) -> None:
    (repo / "out/ml/a.yaml").unlink()
    assert found(repo) == [("SP539", "out/ml/a.yaml")]


def test_outside_of_ci_the_output_need_not_be_committed_yet(repo: Path) -> None:
    (repo / "out/ml/a.yaml").write_text("kind: Secret\n")
    assert found(repo) == []


def test_an_output_that_is_not_kept_in_git_is_not_compared(repo: Path, in_ci: None) -> None:
    git(repo, "rm", "-rq", "--cached", "out")
    assert found(repo) == []


def test_file_that_attributes_change_is_found_in_ci(repo: Path, in_ci: None) -> None:
    """The disk shows what the specs compile to, and Git holds it in another encoding."""
    (repo / ".gitattributes").write_text("out/** working-tree-encoding=UTF-16BE\n")
    git(repo, "add", ".gitattributes")
    git(repo, "add", "--renormalize", "out")
    git(repo, "commit", "-qam", "x")
    assert git(repo, "status", "--porcelain") == ""
    assert (repo / "out/ml/a.yaml").read_text() == "kind: ConfigMap\n"
    assert found(repo) == [("SP539", "out/ml/a.yaml")]


def test_outside_of_a_work_tree_nothing_is_compared(tmp_path: Path, in_ci: None) -> None:
    (tmp_path / "out").mkdir()
    assert list(problems(tmp_path / "out", tmp_path)) == []
