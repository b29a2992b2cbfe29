"""Fixtures of the tests with a starter repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.absent import skip
from tests.repositories import REPOSITORY
from tests.starter.ci import Installations, Runner
from tests.starter.repository import StarterRepository, begin


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> StarterRepository:
    """Made once; tests have copies."""
    return begin(tmp_path_factory.mktemp("template") / "repo")


@pytest.fixture
def begun(tmp_path: Path, template: StarterRepository) -> StarterRepository:
    """A starter repository whose output is committed."""
    shutil.copytree(template.root, tmp_path / "repo")
    return StarterRepository(tmp_path / "repo")


@pytest.fixture(scope="session")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    root = tmp_path_factory.mktemp("installations")
    commands: tuple[tuple[str | Path, ...], ...] = (
        ("install", "hatchling>=1.27", "--target", root / "tools"),
        ("wheel", REPOSITORY, "--no-deps", "--wheel-dir", root / "wheels"),
    )
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", *command], capture_output=True, text=True, check=False
        )
        if done.returncode:
            skip(f"pip cannot build Stowplan here: {done.stderr[-500:]}")
    return Installations(root)


@pytest.fixture
def runner(begun: StarterRepository, installations: Installations) -> Runner:
    (begun.root / "requirements/stowplan.txt").write_text(installations.requirement)
    begun.must("git", "commit", "-qam", "Say where Stowplan comes from")
    return Runner(begun, installations)
