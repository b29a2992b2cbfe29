"""Child process that ends, with all of its own children, before or with the attempt."""

import os
import resource
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.child_process import LOOK_SECONDS, bound, end, output
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.git.program.idle import Idle
from stowplan.schema.agents.exit_codes import ExitCode

END_SECONDS = 2.0
"""Seconds between SIGTERM and SIGKILL."""

MOST_OUTPUT = 64 << 20
"""Maximum bytes of standard output that `run` returns."""

LAST_ERRORS = 64 << 10
"""Maximum bytes of standard error that are returned. Only the last ones are."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Exit code (`-9` after signal 9), standard output and end of standard error of a program."""

    code: int
    output: bytes
    errors: str


@dataclass(frozen=True, slots=True)
class Call:
    """Command line, environment, working directory and standard input of one child process."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    feed: bytes = b""
    held: tuple[int, ...] = ()
    """File descriptors that the process and its children inherit."""
    memory: int | None = None
    """Maximum bytes of data that the process may allocate (RLIMIT_DATA); None for no limit."""


def run(call: Call, stop: Stop) -> ProgramResult:
    """Run the program, wait for its end, and return its result, whatever its exit code.

    Raises StoppedError if the attempt ends first; all processes are then gone. Raises AttemptError: 5 for too much
    output, 10 if the program waits for what never comes.
    """
    kept = bytearray()
    with running(call, stop) as program:
        for chunk in program.pieces():
            kept += chunk
            if len(kept) > MOST_OUTPUT:
                name = " ".join(call.command[:2])
                message = f"{name} gave more than {MOST_OUTPUT >> 20} MiB: the repository is too large to be read"
                raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
        return program.result(bytes(kept))


@contextmanager
def running(call: Call, stop: Stop) -> Iterator["Program"]:
    """Start the program and yield it. At the end of the block all of its processes are gone."""
    stop.check()
    # One signal reaches all processes of the new session. The kernel ends the child if this program is killed.
    process = subprocess.Popen(  # noqa: S603 - a list of words, without a shell
        [*bound(), *call.command],
        env=dict(call.environment),
        cwd=call.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=call.held,
    )
    with process:
        try:
            if call.memory:
                with suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_DATA, (call.memory, call.memory))
            yield Program(process, call.feed, stop)
        finally:
            end(process, END_SECONDS)


class Program:
    """Running program. Its input is written and its errors are read in threads.

    The methods raise StoppedError if the attempt ends first, and AttemptError (10) if the program waits for what never
    comes.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", feed: bytes, stop: Stop) -> None:
        self._process, self._stop, self._errors = process, stop, bytearray()
        self._idle = Idle(process.pid)
        works = (partial(_feed, process, feed), self._read_errors)
        self._threads = [threading.Thread(target=each, daemon=True) for each in works]
        for each in self._threads:
            each.start()

    def pieces(self) -> Iterator[bytes]:
        """Yield standard output in pieces of any size, until its end."""
        for chunk in output(self._process, self._check):
            yield chunk
            self._idle.reset()

    def result(self, output: bytes = b"") -> ProgramResult:
        """Wait for the end of the program after that of its output, and return the result with `output`."""
        while True:
            try:
                self._process.wait(LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                pass
            self._check()
        for each in self._threads:
            each.join()
        return ProgramResult(self._process.returncode, output, self._errors.decode(errors="replace"))

    def _check(self) -> None:
        self._stop.check()
        self._idle.check()

    def _read_errors(self) -> None:
        """Read standard error, and keep its last `LAST_ERRORS` bytes."""
        with suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), _CHUNK):  # type: ignore[union-attr]
                self._errors += chunk
                del self._errors[:-LAST_ERRORS]


def _feed(process: "subprocess.Popen[bytes]", feed: bytes) -> None:
    # The program may end before it has read all input.
    with suppress(OSError, ValueError):
        process.stdin.write(feed)  # type: ignore[union-attr]
    with suppress(OSError, ValueError):
        process.stdin.close()  # type: ignore[union-attr]
