"""Tests find bugs that are planted into a copy of the checkout: `bugs.yaml` says which find which."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.repositories import REPOSITORY

BUGS: dict[str, dict[str, Any]] = {
    bug["name"]: bug for bug in yaml.safe_load(Path(__file__).with_name("bugs.yaml").read_text())
}
PASSED, FAILED = 0, 1
"""Exit codes of pytest. Others tell of tests that could not be run."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, with an environment of its own: processes that tests start have no PYTHONPATH."""
    left_out = shutil.ignore_patterns(".venv", "build", "__pycache__", ".*_cache", ".hypothesis")
    folder = shutil.copytree(REPOSITORY, tmp_path_factory.mktemp("copy") / "main", ignore=left_out, symlinks=True)
    subprocess.run(["make", "-C", folder, ".venv/ready"], check=True, stdout=subprocess.DEVNULL)
    return folder


def exit_codes(checkout: Path, tests: list[str]) -> dict[str, int]:
    """Run each test alone, as the landing tier does."""
    environment = {**os.environ, "STOWPLAN_TIER": "landing"}
    command = [str(checkout / ".venv/bin/python"), "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    return {
        test: subprocess.run(
            [*command, test], cwd=checkout, env=environment, stdout=subprocess.DEVNULL, check=False
        ).returncode
        for test in tests
    }


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, checkout: Path) -> None:
    bug = BUGS[name]
    file = checkout / bug["file"]
    text = file.read_text()
    assert bug["found_by"]
    assert text.count(bug["old"]) == 1
    assert exit_codes(checkout, bug["found_by"]) == dict.fromkeys(bug["found_by"], PASSED)
    file.write_text(text.replace(bug["old"], bug["new"]))
    try:
        assert exit_codes(checkout, bug["found_by"]) == dict.fromkeys(bug["found_by"], FAILED)
    finally:
        file.write_text(text)
