"""Child processes of an attempt. They end when it ends, together with their own children."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def bound() -> tuple[str, ...]:
    """Return the command prefix that lets the kernel kill the child when the agent dies; empty if `setpriv` is missing.

    The kernel sends the signal when the starting thread ends. A `preexec_fn` could do the same, but is not safe in a
    program with threads.
    """
    program = shutil.which("setpriv")
    if program is None or Path(program).resolve().name != "setpriv":
        return ()
    return (program, "--pdeathsig", "KILL", "--")


def end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """End the whole session of a process: SIGTERM to its leader, then SIGKILL to all after `seconds`.

    The leader may have ended before its children.
    """
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    _signal(process, signal.SIGKILL)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
