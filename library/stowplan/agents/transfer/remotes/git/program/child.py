"""Child process that ends, with all of its own children, before or with the attempt."""

import os
import resource
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.child_process import LOOK_SECONDS, bound, end, output
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.schema.agents.exit_codes import ExitCode

END_SECONDS = 2.0
"""Seconds between SIGTERM and SIGKILL."""

MOST_OUTPUT = 64 << 20
"""Maximum bytes of standard output of a program without `Call.take`."""

LAST_ERRORS = 64 << 10
"""Maximum bytes of standard error that are returned. Only the last ones are."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Exit code, standard output and end of standard error of a program."""

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
    take: Callable[[bytes], None] | None = None
    """Callback that gets standard output in pieces. Without it the output is returned, up to `MOST_OUTPUT`."""
    memory: int | None = None
    """Maximum bytes of data that the process may allocate (RLIMIT_DATA); None for no limit."""


def run(call: Call, stop: Stop) -> ProgramResult:
    """Run the program, wait for its end, and return its result, whatever its exit code.

    Raises StoppedError if the attempt ends first; all processes are then gone. Raises AttemptError (5) for too much
    output, and any error of `take`.
    """
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
            return _wait(process, call, stop)
        finally:
            end(process, END_SECONDS)


def _wait(process: "subprocess.Popen[bytes]", call: Call, stop: Stop) -> ProgramResult:
    """Write the input, read the outputs and wait for the end of a process. Raises as `run` does."""
    errors = _Errors(process)
    feeder = threading.Thread(target=_feed, args=(process, call.feed), daemon=True)
    feeder.start()
    kept = _Kept(call.command)
    for chunk in output(process, stop.check):
        (call.take or kept.take)(chunk)
    while True:
        try:
            process.wait(LOOK_SECONDS)
            break
        except subprocess.TimeoutExpired:
            if stop.is_set():
                raise StoppedError from None
    feeder.join()
    return ProgramResult(process.returncode, bytes(kept.data), errors.text())


def _feed(process: "subprocess.Popen[bytes]", feed: bytes) -> None:
    # The program may end before it has read all input.
    with suppress(OSError, ValueError):
        process.stdin.write(feed)  # type: ignore[union-attr]
    with suppress(OSError, ValueError):
        process.stdin.close()  # type: ignore[union-attr]


class _Kept:
    """Collector of standard output, up to `MOST_OUTPUT` bytes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.data = bytearray()
        self._name = " ".join(command[:2])

    def take(self, chunk: bytes) -> None:
        self.data += chunk
        if len(self.data) > MOST_OUTPUT:
            message = f"{self._name} gave more than {MOST_OUTPUT >> 20} MiB: the repository is too large to be read"
            raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)


class _Errors:
    """Reader of standard error, in its own thread. It stores only the last `LAST_ERRORS` bytes."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._data = bytearray()
        self._process = process
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        self._thread.join()
        return self._data.decode(errors="replace")

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), _CHUNK):  # type: ignore[union-attr]
                self._data += chunk
                del self._data[:-LAST_ERRORS]
