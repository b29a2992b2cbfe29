"""What an engine knows of its destination."""

from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.transfer.engine import key_check


def test_case_of_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = ClaimFolder.stat
    with ClaimFolder.at(tmp_path) as state:
        assert not key_check(state).folds_case
        monkeypatch.setattr(ClaimFolder, "stat", lambda folder, name: stat(folder, name.lower()))
        assert key_check(state).folds_case
    assert not list(tmp_path.iterdir())
