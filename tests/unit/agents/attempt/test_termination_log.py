"""The termination message of a container."""

import json
from pathlib import Path

import pytest

from stowplan.agents.attempt.termination_log import leave


@pytest.mark.parametrize("message", ["short", "long " * 5000, "ü\n" * 5000])
def test_message_fits_the_limit_of_the_kubelet(tmp_path: Path, message: str) -> None:
    place = tmp_path / "log"
    place.touch()
    leave(5, "Locked", message, {"filesDone": 3}, place)
    assert 30 < place.stat().st_size <= 4096
    found = json.loads(place.read_text())
    assert message.startswith(found.pop("message"))
    assert found == {"exitCode": 5, "reason": "Locked", "filesDone": 3}


def test_outside_of_a_container(tmp_path: Path) -> None:
    leave(0, "Succeeded", "done", {}, tmp_path / "log")
    assert list(tmp_path.iterdir()) == []
