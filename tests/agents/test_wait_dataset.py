"""The waiting agent as a separate process, on a real directory."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE
from stowplan.schema.agents.wait_config import Until, WaitConfig

MODULE = "stowplan.agents.wait_dataset"
PATIENT = 3600
END_SECONDS = 30
"""What a process may take that has all it needs; one that hangs fails its test."""


def start(
    root: Path, *, until: Until = "synced", timeout: int = PATIENT, revision: str | None = None
) -> subprocess.Popen[str]:
    config = WaitConfig(dataset="data", path=str(root), until=until, timeout=timeout, revision=revision)
    command = [sys.executable, "-m", MODULE, *config.arguments()]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def events(process: subprocess.Popen[str]) -> list[dict[str, object]]:
    """What it says until its end."""
    _, said = process.communicate(timeout=END_SECONDS)
    return [json.loads(line) for line in said.splitlines()]


def first_look(process: subprocess.Popen[str]) -> dict[str, object]:
    """Waits until it has looked once and found nothing."""
    assert process.stderr
    lines = [process.stderr.readline() for _ in range(2)]
    reported = json.loads(lines[-1])
    assert isinstance(reported, dict)
    return reported


def mark(root: Path, place: str, **fields: object) -> None:
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).write_text(json.dumps({"format": 1, "run": "data-sync-a", **fields}))


def test_it_ends_when_the_sync_ends(tmp_path: Path) -> None:
    process = start(tmp_path)
    assert first_look(process)["detail"] == "no sync has completed it (.stowplan/complete.json is not there)"
    mark(tmp_path, COMPLETE_FILE)
    last = events(process)[-1]
    assert (process.returncode, last["message"]) == (0, "Dataset data is ready: it is synced")


def test_it_waits_for_the_revision_that_is_asked_for(tmp_path: Path) -> None:
    mark(tmp_path, COMPLETE_FILE, revision="def")
    process = start(tmp_path, revision="abc")
    assert first_look(process)["detail"] == "its last sync brought def, not abc"
    mark(tmp_path, COMPLETE_FILE, revision="abc")
    assert events(process)[-1]["reason"] == "Ready"
    assert process.returncode == 0


def test_a_marker_of_an_older_sync_names_no_revision(tmp_path: Path) -> None:
    mark(tmp_path, COMPLETE_FILE)
    process = start(tmp_path, revision="abc", timeout=1)
    last = events(process)[-1]
    assert (process.returncode, last["reason"]) == (12, "Timeout")
    assert "its last sync brought an unknown revision, not abc" in str(last["message"])


def test_it_ends_when_the_sync_fails_for_good(tmp_path: Path) -> None:
    process = start(tmp_path)
    first_look(process)
    mark(tmp_path, FAILED_FILE, result="failed", exitCode=3)
    last = events(process)[-1]
    assert (process.returncode, last["reason"], last["code"]) == (4, "SyncFailed", 4)
    assert "run data-sync-a, exit code 3" in str(last["message"])


def test_it_gives_up_and_says_what_it_waited_for(tmp_path: Path) -> None:
    process = start(tmp_path, timeout=1)
    last = events(process)[-1]
    assert (process.returncode, last["reason"]) == (12, "Timeout")
    assert str(last["message"]).startswith("Dataset data is not synced after 1 s: no sync has completed it")


def test_a_dataset_without_a_sync_is_there_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, until="mounted")
    assert events(process)[-1]["reason"] == "Ready"
    assert process.returncode == 0


def test_a_signal_ends_it(tmp_path: Path) -> None:
    process = start(tmp_path)
    first_look(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=END_SECONDS) == 143
    process.communicate()


@pytest.mark.parametrize(
    "words",
    [[], ["--dataset", "data"], ["--dataset", "data", "--path", "/", "--timeout", "0"], ["--until", "later"]],
    ids=["nothing", "no path", "no time", "no such step"],
)
def test_wrong_usage(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", MODULE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: python -m stowplan.agents.wait_dataset" in done.stderr
    assert "Traceback" not in done.stderr
