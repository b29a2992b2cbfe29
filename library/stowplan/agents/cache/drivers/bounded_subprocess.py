"""Child processes with a time limit.

A mount that hangs blocks every process that reads it. So a child process reads it, which this process can give up.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from stowplan.agents.attempt.redaction import Redactor

KILL_SECONDS = 1.0
"""Seconds that a killed process may take to end. In a call that the kernel cannot interrupt, it takes longer."""

ERROR_BYTES = 4096
"""Maximum length of the returned standard error. Of a longer one only the end is returned."""

MOST_BYTES = 1 << 20
"""Maximum size of the returned output in bytes. The statistics of a mount have about ten thousand bytes."""

_REDACT = Redactor(())


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of a process."""

    code: int | None
    """Exit code; None if the process did not end in time."""
    output: str = ""
    """Standard output, so far if it did not end."""
    error: str = ""
    """End of standard error, without secrets in URLs; empty if it did not end."""


class BoundedRunner:
    """Runs one program at a time. Only one thread may use it.

    A process that does not end after SIGKILL is abandoned. The next call first waits for the end of that process, so at
    most one process hangs.
    """

    def __init__(self) -> None:
        self._left: subprocess.Popen[bytes] | None = None

    def ask(self, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> Ended:
        """Run a program for at most `seconds`, and return its result.

        `environment` are all of its variables. If an abandoned process of an earlier call still hangs, the program is
        not started, and it did not end in time. Raises FileNotFoundError if the program is missing.
        """
        if self._left and not _ended(self._left, seconds):
            return Ended(None)
        # Files, not pipes: reading a pipe to its end would wait for the process.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
            process = subprocess.Popen(  # noqa: S603 - no shell
                command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=error
            )
            if _ended(process, seconds):
                # Redacted before it is cut: a URL without its beginning would not be recognised.
                return Ended(process.returncode, _text(output), _REDACT(_text(error))[-ERROR_BYTES:])
            process.kill()
            self._left = None if _ended(process, KILL_SECONDS) else process
            return Ended(None, _text(output))


def _ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES).decode(errors="replace")
