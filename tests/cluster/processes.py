"""Child processes that never outlive the tests."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the tests have ended")
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Linux kills the program when its parent dies (PR_SET_PDEATHSIG = 1), however that one dies, and also when only the
thread that started it ends. A `preexec_fn` could do the same, but Python 3.12 warns of it as soon as the tests have
threads."""

GO = {"GOGC": "400"}
"""Programs in Go collect garbage more rarely than by default (100): the API server, etcd and the controllers then take
a quarter less of the processor, for 300 MB more of memory together."""


class StartError(Exception):
    """A program ended or did not become ready; the text holds the end of its log."""


@dataclass(frozen=True)
class Process:
    """A running program and the file that holds its output."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    def tail(self, lines: int = 30) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def await_ready(self, ready: Callable[[], bool], seconds: float) -> None:
        """Poll until `ready`; StartError if the program ends first or takes too long."""
        deadline = time.monotonic() + seconds
        while not ready():
            if (code := self.popen.poll()) is not None:
                raise StartError(f"{self.name} ended with {code}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise StartError(f"{self.name} was not ready after {seconds:.0f} s:\n{self.tail()}")
            time.sleep(0.05)


@dataclass(frozen=True)
class Processes:
    """Starts programs, each in a process group of its own, and stops them in reverse order."""

    logs: Path
    grace: float = 5
    """Seconds between the request to end and the kill."""
    running: list[Process] = field(default_factory=list)

    def start(self, program: Path, arguments: Sequence[str], *, name: str = "") -> Process:
        """Start a program whose output goes to `<logs>/<name>.log`; the name is by default the program's."""
        name = name or program.name
        log = self.logs / f"{name}.log"
        command = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            _DIE_WITH_PARENT,
            str(os.getpid()),
            str(program),
            *arguments,
        ]
        process = Process(name, _run(command, log), log)
        self.running.append(process)
        return process

    def restart(self, process: Process) -> Process:
        """End a program and start it again as it was; it is not ready at once."""
        _signal(process, signal.SIGTERM)
        process.popen.wait()
        again = Process(process.name, _run(process.popen.args, process.log), process.log)
        self.running[self.running.index(process)] = again
        return again

    def end(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """End one program, by default at once."""
        (process,) = (each for each in self.running if each.name == name)
        _signal(process, number)
        process.popen.wait()
        self.running.remove(process)

    def stop(self) -> None:
        """Ask all to end, last started first; kill the groups of those that outlast the grace."""
        for process in reversed(self.running):
            _signal(process, signal.SIGTERM)
            try:
                process.popen.wait(timeout=self.grace)
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.popen.wait()
        self.running.clear()


def _run(command: Any, log: Path) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**GO, **os.environ},
        )


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.popen.pid, number)


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int, address: str = "127.0.0.1") -> bool:
    """Whether something accepts connections on the port."""
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False
