"""Questions to other processes: a mount that hangs keeps the process that asked, so it must not be this one."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from stowplan.agents.attempt.redaction import Redactor

KILL_SECONDS = 1.0
"""What a process may take to end once it is killed. In a call that the kernel cannot give up it lasts longer."""

ERROR_BYTES = 4096
"""Of what it said on standard error, the end."""

MOST_BYTES = 1 << 20
"""Of what it said at all: statistics of a mount have some ten thousand bytes."""

_REDACT = Redactor(())


@dataclass(frozen=True, slots=True)
class Answer:
    """A process that ended by itself."""

    code: int
    output: str
    error: str


@dataclass(frozen=True, slots=True)
class Silence:
    """A process that did not end in time, and what it had said by then."""

    output: str


class Asker:
    """Runs one program after the other. For one thread.

    A process that outlives its kill is left behind, and the next question waits for its end first: there is never more
    than one that hangs.
    """

    def __init__(self) -> None:
        self._left: subprocess.Popen[bytes] | None = None

    def ask(self, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> Answer | Silence:
        """Runs a program for that long at most; FileNotFoundError if there is no such program."""
        if self._left and not _ended(self._left, seconds):
            return Silence("")
        # Files, not pipes: to read a pipe to its end would be to wait for the process.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
            process = subprocess.Popen(  # noqa: S603 - no shell
                command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=error
            )
            if _ended(process, seconds):
                # Before the cut: afterwards the rest of a URL would not be known for one.
                return Answer(process.returncode, _text(output), _REDACT(_text(error))[-ERROR_BYTES:])
            process.kill()
            self._left = None if _ended(process, KILL_SECONDS) else process
            return Silence(_text(output))


def _ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES).decode(errors="replace")
