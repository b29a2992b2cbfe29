"""The heartbeat file that probes read: the two of the cache agent, and the one of the reporter."""

import time
from pathlib import Path

import pytest

from stowplan.agents.runtime import heartbeat


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Path(heartbeat.path())


def probes() -> tuple[int, int]:
    """Return the exit codes of `alive` and `ready`."""
    return heartbeat.probe("runtime"), heartbeat.probe("runtime", ready=True)


def beat_of(file: Path, age: float) -> None:
    file.write_text(f"{time.monotonic() - age}\n", encoding="utf-8")


@pytest.mark.usefixtures("file")
def test_all_is_well() -> None:
    heartbeat.beat()
    assert probes() == (0, 0)


@pytest.mark.usefixtures("file")
def test_mount_in_trouble(capsys: pytest.CaptureFixture[str]) -> None:
    """The pod need not be restarted, since that would not help."""
    heartbeat.beat("MountHung: it hangs")
    assert probes() == (0, 1)
    assert capsys.readouterr().err == "MountHung: it hangs\n"


def test_runtime_that_hangs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beat_of(file, heartbeat.ALIVE_SECONDS + 5)
    assert probes() == (1, 1)
    assert capsys.readouterr().err == "The runtime has done nothing for 95 s\n" * 2


def test_heartbeat_from_before_a_restart_of_the_node(file: Path) -> None:
    beat_of(file, -1000)
    assert probes() == (1, 1)


@pytest.mark.parametrize("text", ["", "[]", "x\n", "1e\nno"])
def test_invalid_file(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert probes() == (1, 1)


@pytest.mark.usefixtures("file")
def test_runtime_that_has_not_begun() -> None:
    assert probes() == (1, 1)
