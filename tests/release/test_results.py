"""A run of a later tier keeps its result, and a release needs results that passed on what is released."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repositories import REPOSITORY

TESTS = """\
import pytest
def test_a(): assert {sum}
def test_b(): pytest.skip("no machine")
"""


def git(repo: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.check_output(command, text=True).strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one test that passes."""
    for folder in ("tests/nightly", "tests/on_request"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tests/nightly/test_sums.py").write_text(TESTS.format(sum="1 + 1 == 2"))
    (tmp_path / ".gitignore").write_text("__pycache__\n.pytest_cache\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def commit(repo: Path) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Change")


def run(repo: Path, *parts: str) -> int:
    """Run the tests as a tier; commit the result."""
    status = 0
    for part in parts:
        file = f"tests/{'nightly' if part == 'all' else 'on_request'}/RESULT.md"
        # Without a place of its own it would clean up what earlier runs of all tests have left.
        own_place = f"--basetemp={repo.parent}/{repo.name}-base"
        words = ["-p", "tests.result", "-p", "no:cacheprovider", "-n", "1", "--result", file, "--part", part, "tests"]
        paths = os.pathsep.join(str(REPOSITORY / each) for each in ("schema", "library", "compiler", "."))
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment = {**own, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        status |= subprocess.run(
            [sys.executable, "-m", "pytest", "-q", own_place, *words],
            cwd=repo,
            env=environment,
            capture_output=True,
            check=False,
        ).returncode
    commit(repo)
    return status


def refusals(repo: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, REPOSITORY / ".ci/results.py"], cwd=repo, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert done.returncode == bool(lines), done.stderr
    return lines


def test_a_release_needs_all_results(repo: Path) -> None:
    assert len(refusals(repo)) == 5
    tested = git(repo, "rev-parse", "HEAD")
    assert run(repo, "all", "kills") == 0
    text = (repo / "tests/nightly/RESULT.md").read_text()
    assert f"## all\n\n- Passed\n- Commit: {tested}\n" in text
    assert "| tests/nightly | 1 | 0 | 1 |" in text
    assert "- Skipped 1: Skipped: no machine" in text
    others = ("planted_bugs", "races", "random")
    assert refusals(repo) == [f"tests/on_request/RESULT.md: no result of {part!r}" for part in others]
    # The second part was run with the result of the first, which is not committed, beside it. That is no change.
    assert run(repo, *others) == 0
    assert refusals(repo) == []


def test_a_result_of_something_else_is_refused(repo: Path) -> None:
    run(repo, "all", "kills", "planted_bugs", "races", "random")
    (repo / "new.py").write_text("")
    commit(repo)
    assert refusals(repo)[0] == "tests/nightly/RESULT.md: all: 1 files have changed since, such as new.py"
    (repo / "changed.py").write_text("")
    run(repo, "all")
    assert refusals(repo)[0].endswith("it names no commit, or was run with changes that are not committed")


def test_a_change_that_a_comparison_could_hide_is_refused(repo: Path) -> None:
    """A submodule that says so itself, and a file that was a part of what is tested and became the result."""
    file = repo / "tests/nightly/RESULT.md"
    tested = git(repo, "rev-parse", "HEAD")
    text = f"\n## all\n\n- Passed\n- Commit: {tested}\n"
    file.write_text(text)
    (repo / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = ../a\n\tignore = all\n')
    commit(repo)
    (repo / "a").mkdir()
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{tested},a")
    git(repo, "commit", "-qm", "Add a submodule")
    file.write_text(text.replace(tested, git(repo, "rev-parse", "HEAD^")))
    commit(repo)
    assert refusals(repo)[0] == "tests/nightly/RESULT.md: all: 1 files have changed since, such as a"
    (repo / "old.md").write_text(text.replace(tested, "0" * 40))
    file.unlink()
    commit(repo)
    (repo / "old.md").unlink()
    file.write_text(text.replace(tested, git(repo, "rev-parse", "HEAD")))
    commit(repo)
    assert refusals(repo)[0] == "tests/nightly/RESULT.md: all: 1 files have changed since, such as old.md"


def test_a_failure_is_kept_and_refused(repo: Path) -> None:
    (repo / "tests/nightly/test_sums.py").write_text(TESTS.format(sum="1 + 1 == 3"))
    commit(repo)
    assert run(repo, "all") == 1
    text = (repo / "tests/nightly/RESULT.md").read_text()
    assert "- Failed with exit code 1\n" in text
    assert "- Failed: `tests/nightly/test_sums.py::test_a`: assert (1 + 1) == 3\n" in text
    assert "tests/nightly/RESULT.md: all: it has not passed" in refusals(repo)


def test_tests_that_cannot_be_collected_are_a_failure(repo: Path) -> None:
    (repo / "tests/nightly/test_sums.py").write_text("import nothing_of_this_name\n")
    commit(repo)
    assert run(repo, "all") != 0
    assert "tests/nightly/RESULT.md: all: it has not passed" in refusals(repo)
