"""The steps of the workflow that makes a release, and the repository at its commit."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from stowplan.schema.platform.settings import Digests
from tests.repositories import REPOSITORY
from tests.starter.ci import BASH

WORKFLOW = YAML(typ="safe").load(REPOSITORY / ".github/workflows/release.yaml")
AGENTS = tuple(Digests.model_fields)
IMAGES = tuple(sorted((*AGENTS, "compiler")))
VERSION = "9.8.7"
CHECKED_OUT = (".ci", ".github", "Makefile", "README.md", "LICENSE", "SECURITY.md", "CHANGELOG.md", "pyproject.toml")
FOLDERS = ("compiler", "library", "schema")


def step(job: str, name: str) -> str:
    """The script of a step."""
    (found,) = [each["run"] for each in WORKFLOW["jobs"][job]["steps"] if each.get("name") == name]
    return str(found)


def run(script: str, folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """As GitHub runs a script of a step."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder.parent / "home"), "GITHUB_REF_NAME": f"v{VERSION}", **variables}
    for name in (
        "UV_CACHE_DIR",
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "SSL_CERT_FILE",
    ):
        environment |= {name: os.environ[name]} if name in os.environ else {}
    command = [*BASH, script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def must(script: str, folder: Path, **variables: str) -> str:
    done = run(script, folder, variables)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The repository at the commit of a release."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    for name in CHECKED_OUT:
        place = REPOSITORY / name
        (shutil.copytree if place.is_dir() else shutil.copy)(place, folder / name)
    for name in FOLDERS:
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    project = folder / "pyproject.toml"
    project.write_text(re.sub(r'^version = ".*"$', f'version = "{VERSION}"', project.read_text(), flags=re.MULTILINE))
    changelog = folder / "CHANGELOG.md"
    changelog.write_text(f"# Changelog\n\n## {VERSION} - 2026-12-01\n\n- Sails, see [how](README.md).\n")
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    return folder
