"""Where the screenshots of the site go."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go, for people to look at: `STOWPLAN_SCREENSHOTS`, or a folder of pytest."""
    if named := os.environ.get("STOWPLAN_SCREENSHOTS"):
        Path(named).mkdir(parents=True, exist_ok=True)
        return Path(named)
    return tmp_path_factory.mktemp("screenshots")
