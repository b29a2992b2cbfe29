"""Programs that an attempt starts: they end with it, and with whatever they started themselves."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def bound() -> tuple[str, ...]:
    """The words before a command whose process is to be killed with ours; none where that program is not there.

    The signal is sent when the thread ends that started it. A `preexec_fn` could do the same, but is not safe in a
    program with threads.
    """
    program = shutil.which("setpriv")
    if program is None or Path(program).resolve().name != "setpriv":
        return ()
    return (program, "--pdeathsig", "KILL", "--")


def end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Ends a process that leads a session, with all of it: SIGKILL comes so long after SIGTERM.

    Its leader may have ended before those that it started.
    """
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    _signal(process, signal.SIGKILL)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
