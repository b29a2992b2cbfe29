"""Programs started by the harness end with it in every case."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.client import wait_for
from tests.cluster.processes import Processes, StartError
from tests.cluster.shared import REPOSITORY

SHELL = Path("/bin/sh")
_STARTER = """
import sys, time
from pathlib import Path
from tests.cluster.processes import Processes
print(Processes(Path(sys.argv[1])).start(Path("/bin/sleep"), ["600"]).popen.pid, flush=True)
time.sleep(600)
"""


def _is_sleeping(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "sleep\n"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills the children of a killed process")
def test_program_dies_when_its_starter_is_killed(tmp_path: Path) -> None:
    starter = [sys.executable, "-c", _STARTER, str(tmp_path)]
    with subprocess.Popen(starter, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        wait_for(lambda: _is_sleeping(pid), what="the program")
        parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not _is_sleeping(pid), what="its end")


def test_program_that_ends_early_is_reported_with_its_log(tmp_path: Path) -> None:
    process = Processes(tmp_path).start(SHELL, ["-c", "echo out of luck; exit 3"])
    with pytest.raises(StartError, match=r"ended with 3:\nout of luck"):
        process.await_ready(lambda: False, 30)


def test_program_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    processes = Processes(tmp_path, grace=0.2)
    process = processes.start(SHELL, ["-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"])
    process.await_ready(lambda: process.tail() == "ready", 30)
    processes.stop()
    assert process.popen.returncode == -signal.SIGKILL
