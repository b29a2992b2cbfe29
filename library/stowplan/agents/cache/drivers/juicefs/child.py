"""The program `juicefs` as a child process, which never outlives this process."""

import os
import re
import subprocess
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

from stowplan.agents.attempt.child_process import bound, end, output
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.schema.agents.exit_codes import ExitCode

PROGRAM = "juicefs"

GRACE_SECONDS = 3.0
"""Seconds between SIGTERM and SIGKILL."""

LONGEST_LINE = 64 * 1024
"""Maximum size of a line of output in bytes.

Longer lines are dropped: if a line were cut, half of a secret could remain, which redaction would not recognise.
"""

SHOWN = 1000
"""Maximum length in characters of a line that is shown to people."""

KEPT_LINES = 200
"""Number of lines at the end of the output that `ChildEnd` has."""

_TOO_LONG = f"a line of more than {LONGEST_LINE} bytes"

_LOG_LINE = re.compile(r"^\S+ \S+ juicefs\[\d+\] <([A-Z]+)>: (.*?)(?: \[[^\[\]]*@[^\[\]]*\])?$")
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
_PASSED_ON_TOO = ("no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the child's output."""

    level: str
    """`DEBUG`, `INFO`, `WARNING`, `ERROR` or `FATAL`; empty if the line does not have the format of the child's log."""
    text: str
    """Line for this program, with secrets: redaction could also replace a number that the program must read.

    Bytes that are no UTF-8 are surrogates (U+DC80 to U+DCFF): they may be in the name of a file.
    """
    shown: str
    """Line for people: without secrets and shortened."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """Result of a child that ended by itself."""

    code: int
    """Exit code of the child. It is only a hint, since `juicefs` may return 0 after an error."""
    lines: Sequence[LogLine]
    """Last lines of the child's output."""

    @property
    def complaints(self) -> list[LogLine]:
        """Return the lines that report errors, and the lines that do not have the format of the child's log."""
        return [line for line in self.lines if line.level not in ("DEBUG", "INFO", "WARNING") and line.text]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Child:
    """Runs `juicefs`, with `secrets` and a few variables of this process (such as PATH) as its environment."""

    secrets: Mapping[str, str]
    """Environment variables with secrets, for the child."""
    stop: Stop
    redact: Redactor

    def run(
        self,
        *words: str,
        seconds: float | None = None,
        more: Mapping[str, str] | None = None,
        said: Callable[[LogLine], None] = lambda _: None,
    ) -> ChildEnd:
        """Run `juicefs` with the arguments `words`, and wait for its end.

        `more` are additional environment variables. `said` gets each line of output as soon as it is read. Raises
        StoppedError if the work must stop. Raises AttemptError TRANSIENT (10) if the child has not ended after
        `seconds`; None for no limit.
        """
        with closing(self.lines(*words, seconds=seconds, more=more)) as lines:
            for each in lines:
                if isinstance(each, ChildEnd):
                    return each
                said(each)
        raise AssertionError

    def lines(
        self, *words: str, seconds: float | None = None, more: Mapping[str, str] | None = None
    ) -> Generator[LogLine | ChildEnd]:
        """Run `juicefs` as `run` does, and yield each line of its output as soon as it is read, and its end at last.

        The child waits while nobody takes lines. It ends at the latest with the generator, which must be closed.
        """
        # `bound` is for programs outside a container: if such a program is killed, the child would otherwise go on
        # without a lock. The thread that starts the child waits for its end, as `bound` requires.
        passed_on = {name: os.environ[name] for name in (*_PASSED_ON, *_PASSED_ON_TOO) if name in os.environ}
        process = subprocess.Popen(  # noqa: S603 - no shell
            [*bound(), PROGRAM, "--no-agent", *words],
            env={**passed_on, **self.secrets, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        kept: deque[LogLine] = deque(maxlen=KEPT_LINES)
        try:
            for line in self._listen(process, None if seconds is None else time.monotonic() + seconds, words[0], kept):
                kept.append(line)
                yield line
            yield ChildEnd(process.wait(), list(kept))
        finally:
            # Ends the child's whole process group, including children that it left behind.
            end(process, GRACE_SECONDS)
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _listen(
        self, process: "subprocess.Popen[bytes]", end: float | None, what: str, kept: Sequence[LogLine]
    ) -> Iterator[LogLine]:
        def check() -> None:
            self.stop.check()
            if end is not None and time.monotonic() > end:
                raise AttemptError(ExitCode.TRANSIENT, "NoAnswer", f"juicefs {what} did not end in time{_last(kept)}")

        rest = b""
        for data in chain(output(process, check), [b"\n"]):
            *whole, rest = (rest + data).split(b"\n")
            rest = rest[: LONGEST_LINE + 1]
            for each in filter(None, whole):
                text = each.decode(errors="surrogateescape").strip() if len(each) <= LONGEST_LINE else _TOO_LONG
                yield _line(text, self.redact)


def _line(text: str, redact: Redactor) -> LogLine:
    found = _LOG_LINE.match(text)
    level, said = (found[1], found[2]) if found else ("", text)
    clean = said if said.isascii() else said.encode(errors="replace").decode()
    return LogLine(level, said, redact(clean)[:SHOWN])


def _last(kept: Sequence[LogLine]) -> str:
    said = [line.shown for line in kept if line.level != "INFO"] or [line.shown for line in kept]
    return f": {said[-1]}" if said else ""
