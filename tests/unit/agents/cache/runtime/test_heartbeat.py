"""The heartbeat file that probes read."""

import json
import time
from pathlib import Path

import pytest

from stowplan.agents.cache.runtime import heartbeat


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return heartbeat.path()


def beat_of(file: Path, age: float) -> None:
    file.write_text(json.dumps({"at": time.monotonic() - age, "trouble": None}), encoding="utf-8")


def test_all_is_well(file: Path) -> None:
    heartbeat.beat(file, None)
    assert (heartbeat.main(["alive"]), heartbeat.main(["ready"])) == (0, 0)


def test_mount_in_trouble(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pod need not be restarted, since that would not help."""
    heartbeat.beat(file, "MountHung: it hangs")
    assert (heartbeat.main(["alive"]), heartbeat.main(["ready"])) == (0, 1)
    assert capsys.readouterr().err == "MountHung: it hangs\n"


def test_runtime_that_hangs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beat_of(file, heartbeat.ALIVE_SECONDS + 5)
    assert (heartbeat.main(["alive"]), heartbeat.main(["ready"])) == (1, 1)
    assert capsys.readouterr().err == "The runtime has done nothing for 95 s\n" * 2


def test_heartbeat_from_before_a_restart_of_the_node(file: Path) -> None:
    beat_of(file, -1000)
    assert heartbeat.main(["alive"]) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"at": "x", "trouble": null}'])
def test_invalid_file(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert (heartbeat.main(["alive"]), heartbeat.main(["ready"])) == (1, 1)


def test_runtime_that_has_not_begun(file: Path) -> None:
    assert heartbeat.main(["alive"]) == 1
