"""Fixtures of the tests with a starter repository."""

import shutil
from pathlib import Path

import pytest

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
