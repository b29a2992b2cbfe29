"""Programs that wait for what never comes, and those that only seem to."""

import os
import sys
import time
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.git.program import idle
from stowplan.agents.transfer.remotes.git.program.child import Call, run, running
from stowplan.schema.agents.exit_codes import ExitCode

LONG = "import time\nend = time.monotonic() + 2\n"
COMPUTES = f"{LONG}while time.monotonic() < end: pass"
LOOKS = f"{LONG}while time.monotonic() < end: time.sleep(0.05)"
WAITS_FOR_CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {LOOKS!r}], check=True)"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "IDLE_SECONDS", 0.8)


def call(folder: Path, *words: str) -> Call:
    return Call(words, os.environ, folder)


@pytest.mark.parametrize(
    "words", [("cat", "pipe"), ("sh", "-c", "cat pipe; true"), ("sh", "-c", "exec >/dev/null; cat pipe")]
)
def test_pipe_that_nobody_writes_to(tmp_path: Path, words: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AttemptError) as caught:
        run(call(tmp_path, *words), Stop())
    assert (caught.value.code, caught.value.reason) == (ExitCode.TRANSIENT, "Idle")


@pytest.mark.parametrize("program", [COMPUTES, LOOKS, WAITS_FOR_CHILD], ids=["computes", "looks", "waits"])
def test_silent_work(tmp_path: Path, program: str) -> None:
    assert run(call(tmp_path, sys.executable, "-c", program), Stop()).code == 0


def test_slow_reader(tmp_path: Path) -> None:
    """The program waits until its output is read, and that is no fault of it."""
    with running(call(tmp_path, "head", "-c", "1000000", "/dev/zero"), Stop()) as program:
        pieces = program.pieces()
        read = len(next(pieces))
        time.sleep(2)
        assert read + sum(map(len, pieces)) == 1000000
        assert program.result().code == 0
