"""Run a program and measure its time or its memory."""

import ctypes
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.03
_SET_CHILD_SUBREAPER = 36
_SESSION = 3
"""Of the fields in `/proc/<pid>/stat` that follow the name of the program."""


@dataclass(frozen=True)
class Run:
    """One run: seconds on the clock, and seconds of processors in all its processes."""

    seconds: float
    processor: float
    code: int
    """-9 where it took longer than it may."""
    output: str


@dataclass(frozen=True)
class Memory:
    """The most that was seen, in MiB."""

    tree: float
    """Proportional set sizes of all processes at one moment."""
    largest: float
    """Resident set of the largest process."""
    programs: frozenset[str]
    """Names of all that ran."""


def adopt_orphans() -> None:
    """Processes that outlive their parent are waited for here, so that their time is counted too. Linux only."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command: Sequence[str | Path], limit: float, variables: Mapping[str, str]) -> Run:
    """One run, in a session and a process group of its own, whose orphans are waited for."""
    return _run(command, limit, variables, None)


def run_sampled(command: Sequence[str | Path], limit: float, variables: Mapping[str, str]) -> tuple[Run, Memory]:
    """One run whose time means little, since it is looked at all the while."""
    sampler = Sampler()
    ran = _run(command, limit, variables, sampler)
    return ran, sampler.most


def _run(command: Sequence[str | Path], limit: float, variables: Mapping[str, str], sampler: "Sampler | None") -> Run:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with sampler.looking_at(process.pid) if sampler else nullcontext():
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
        wall = time.perf_counter() - begin
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-process.pid, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        output.seek(0)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Run(wall, processor, code, output.read())


class Sampler:
    """Looks at all processes of a session again and again."""

    def __init__(self) -> None:
        self.most = Memory(0, 0, frozenset())
        self._session = 0
        self._over = threading.Event()

    def looking_at(self, session: int) -> "Sampler":
        self._session = session
        return self

    def __enter__(self) -> None:
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            processes = _processes(self._session)
            sizes = [found for process in processes if (found := _sizes(process)) is not None]
            self.most = Memory(
                max(self.most.tree, sum(pss for pss, _ in sizes) / 1024),
                max([self.most.largest, *(peak / 1024 for _, peak in sizes)]),
                self.most.programs.union(map(_program, processes)),
            )


def _processes(session: int) -> list[Path]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[_SESSION]) == session:
                found.append(place)
    return found


def _program(process: Path) -> str:
    """Its file; empty when it has ended."""
    try:
        return (process / "exe").readlink().name
    except OSError:
        return ""


def _sizes(process: Path) -> tuple[int, int] | None:
    """The proportional set size and the highest resident one, in KiB; None when the process has ended."""
    try:
        pss = _field(process / "smaps_rollup", "Pss:")
        return pss, _field(process / "status", "VmHWM:")
    except (OSError, StopIteration):
        return None


def _field(path: Path, name: str) -> int:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
