"""The program `juicefs` as a child process, which never outlives its task."""

import os
import re
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.agents.attempt.child_process import bound, end
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.schema.agents.exit_codes import ExitCode

PROGRAM = "juicefs"

GRACE_SECONDS = 3.0
"""What the child may take to end in peace."""

LONGEST_LINE = 64 * 1024
"""Bytes. Nothing is kept of a longer one: half of a secret, at its cut, would not be known for one any more."""

SHOWN = 1000
"""Characters of a line that people get to see."""

KEPT_LINES = 200
_TOO_LONG = f"a line of more than {LONGEST_LINE} bytes"
LOOK_SECONDS = 0.2

_LOG_LINE = re.compile(r"^\S+ \S+ juicefs\[\d+\] <([A-Z]+)>: (.*?)(?: \[[^\[\]]*@[^\[\]]*\])?$")
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")
_PASSED_ON_TOO = ("no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that the child said."""

    level: str
    """`INFO`, `WARNING`, `ERROR`, `FATAL`, or empty for what is no line of its log."""
    text: str
    """As it came: for programs, since a number may be a secret too."""
    shown: str
    """Without secrets, and cut: for people."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A child that ended by itself. Its exit code is a hint and no more."""

    code: int
    lines: Sequence[Line]

    @property
    def complaints(self) -> list[Line]:
        """What it said on errors, without what is only a warning."""
        return [line for line in self.lines if line.level not in ("DEBUG", "INFO", "WARNING") and line.text]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Child:
    """How the child is run: with these variables and no others."""

    secrets: Mapping[str, str]
    """Variables for the child alone."""
    stop: Stop
    redact: Redactor
    said: Callable[[Line], None] = field(default=lambda _: None)
    """Gets each line at once."""

    def run(self, *words: str, seconds: float | None = None, more: Mapping[str, str] | None = None) -> Ended:
        """Waits for the end; StoppedError if there is to be no more work, AttemptError (10) after that many seconds."""
        # Without a container around them it would go on with nobody's lock. The thread that starts it outlives it.
        process = subprocess.Popen(  # noqa: S603 - no shell
            [*bound(), PROGRAM, "--no-agent", *words],
            env=self._environment(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            lines = self._listen(process, None if seconds is None else time.monotonic() + seconds, words[0])
            return Ended(process.wait(), lines)
        finally:
            # The whole group of the child, also what it left behind.
            end(process, GRACE_SECONDS)
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _listen(self, process: "subprocess.Popen[bytes]", end: float | None, what: str) -> list[Line]:
        kept: deque[Line] = deque(maxlen=KEPT_LINES)
        descriptor, rest = process.stdout.fileno() if process.stdout else -1, b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                self.stop.check()
                if end is not None and time.monotonic() > end:
                    raise AttemptError(
                        ExitCode.TRANSIENT, "NoAnswer", f"juicefs {what} did not end in time{_last(kept)}"
                    )
                if not selector.select(LOOK_SECONDS):
                    continue
                data = os.read(descriptor, 65536)
                *whole, rest = (rest + data).split(b"\n") if data else [rest, b""]
                rest = rest[: LONGEST_LINE + 1]
                for each in filter(None, whole):
                    text = each.decode(errors="replace").strip() if len(each) <= LONGEST_LINE else _TOO_LONG
                    line = _line(text, self.redact)
                    kept.append(line)
                    self.said(line)
                if not data:
                    return list(kept)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        own = {name: os.environ[name] for name in (*_PASSED_ON, *_PASSED_ON_TOO) if name in os.environ}
        return {**own, **self.secrets, **more}


def _line(text: str, redact: Redactor) -> Line:
    found = _LOG_LINE.match(text)
    level, said = (found[1], found[2]) if found else ("", text)
    return Line(level, said, redact(said)[:SHOWN])


def _last(kept: Sequence[Line]) -> str:
    said = [line.shown for line in kept if line.level != "INFO"] or [line.shown for line in kept]
    return f": {said[-1]}" if said else ""
