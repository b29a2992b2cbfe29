"""Linters of workflows find nothing in those of `stowplan init`: actionlint for their form, zizmor for their safety."""

import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter.ci_files import Ci
from tests.absent import skip
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import ACTIONLINT
from tests.repositories import REPOSITORY
from tests.starter.repository import PROGRAMS


@pytest.fixture(scope="module")
def actionlint() -> Path:
    found = obtain(ACTIONLINT)
    if isinstance(found, Missing):
        skip(str(found))
    return found.paths["actionlint"]


@pytest.fixture
def workflows(tmp_path: Path) -> list[Path]:
    """The workflows of a new repository, for each way of CI."""
    for ci in Ci:
        starter.write(tmp_path / ci, ci=ci)
    found = sorted(tmp_path.glob("*/.github/workflows/*"))
    assert len(found) == 2 + 3
    return found


def lint(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def test_actionlint_finds_nothing(actionlint: Path, workflows: list[Path]) -> None:
    done = lint(actionlint, "-no-color", *workflows)
    assert (done.returncode, done.stdout) == (0, "")


def test_actionlint_finds_a_mistake(actionlint: Path, workflows: list[Path]) -> None:
    """So its silence means something."""
    broken = workflows[0]
    broken.write_text(broken.read_text().replace("runs-on: ubuntu-latest", "runs-on: ${{ github.nothing }}"))
    assert lint(actionlint, "-no-color", broken).returncode == 1


def zizmor(*files: Path) -> subprocess.CompletedProcess[str]:
    return lint(PROGRAMS / "zizmor", "--offline", "--no-progress", "--color=never", *files)


def test_zizmor_finds_nothing(workflows: list[Path]) -> None:
    done = zizmor(*workflows, REPOSITORY / ".github/actions/check/action.yml")
    assert done.returncode == 0, done.stdout
    assert "No findings to report." in done.stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("          persist-credentials: false\n", ""),
        ("pip install --require-hashes", "echo ${{ github.event.pull_request.title }}"),
        ("  pull_request:", "  pull_request_target:"),
    ],
)
def test_zizmor_finds_what_is_dangerous(tmp_path: Path, before: str, after: str) -> None:
    starter.write(tmp_path)
    file = tmp_path / ".github/workflows/stowplan.yaml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    assert zizmor(file).returncode > 10


@pytest.fixture
def own_workflows() -> list[Path]:
    """The workflows of this repository."""
    return sorted((REPOSITORY / ".github/workflows").glob("*.yaml"))


def test_actionlint_finds_nothing_in_this_repository(actionlint: Path, own_workflows: list[Path]) -> None:
    done = lint(actionlint, "-no-color", *own_workflows)
    assert (done.returncode, done.stdout) == (0, "")


def test_zizmor_finds_nothing_in_this_repository(own_workflows: list[Path]) -> None:
    done = zizmor(*own_workflows)
    assert done.returncode == 0, done.stdout
    assert "No findings to report." in done.stdout
