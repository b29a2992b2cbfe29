"""The lock against two writers of one destination."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.lock import LockFile, held
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode


def take(path: Path, silence: float = 0.2) -> None:
    with held(LockFile(path.parent, path.name), "me", Stop(), Log(), silence=silence):
        assert json.loads(path.read_text())["holder"] == "me"


def test_held_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    take(path)
    take(path)
    with held(LockFile(tmp_path, "lock"), "first", Stop(), Log()), pytest.raises(AttemptError, match="first") as caught:
        take(path)
    assert caught.value.code is ExitCode.CONFLICT
    take(path)


def test_holder_of_this_machine_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from stowplan.agents.runtime.log import Log\nfrom stowplan.agents.attempt.lock import LockFile, held\n"
        "from stowplan.agents.attempt.stop import Stop\n"
        "with held(LockFile(Path(sys.argv[1]), 'lock'), 'killed', Stop(), Log()):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, tmp_path], check=False).returncode == -9
    assert json.loads(path.read_text())["holder"] == "killed"
    take(path, silence=1000)


def test_holder_of_another_machine_that_is_silent(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(json.dumps({"holder": "far", "machine": f"not-{socket.gethostname()}"}))
    take(path)


def test_file_that_holds_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("[]")
    take(path, silence=1000)


def test_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("victim")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic"):
        take(tmp_path / "lock")
    assert (tmp_path / "victim").read_text() == "victim"
