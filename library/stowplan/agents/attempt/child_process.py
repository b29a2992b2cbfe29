"""Child processes of an attempt. When the attempt ends, its child processes and their own children end too."""

import ctypes
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

LOOK_SECONDS = 0.2
"""Maximum seconds between two checks whether the attempt must stop."""

_CHUNK = 1 << 16


def bound() -> tuple[str, ...]:
    """Return the words to put before a child's command, so that the kernel kills the child when the agent dies.

    They are empty if the program `setpriv` is missing. The kernel sends the signal when the thread ends that started
    the child. A `preexec_fn` could do the same, but is not safe in a program with threads.
    """
    program = shutil.which("setpriv")
    if program is None or Path(program).resolve().name != "setpriv":
        return ()
    return (program, "--pdeathsig", "KILL", "--")


def hide() -> None:
    """Let no other process of the same user read this one's memory, and the environment that it began with."""
    # Linux: prctl(PR_SET_DUMPABLE, 0). Where it fails, the process stays as readable as any other.
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def output(process: "subprocess.Popen[bytes]", check: Callable[[], None]) -> Iterator[bytes]:
    """Yield standard output, which must be a pipe, in pieces until its end. `check` is called often, and may raise."""
    assert process.stdout  # noqa: S101 - it is a pipe
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    while True:
        check()
        if poll.poll(LOOK_SECONDS * 1000):
            if not (chunk := os.read(descriptor, _CHUNK)):
                return
            yield chunk


def end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """End a process that was started with `start_new_session`, and all processes of its process group.

    The process gets SIGTERM and at most `seconds` to end. Then the whole group gets SIGKILL. The process may have
    ended before its children. The caller must still call `process.wait`, and close its pipes.
    """
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    _signal(process, signal.SIGKILL)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
