"""Log of an agent: one line per event, on standard error."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TextIO, get_args

from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents.agent_config import POD_ENV, RUN_ENV

Format = Literal["json", "text"]
Level = Literal["info", "warning", "error"]
Value = str | int | float | None

FORMATS: tuple[Format, ...] = get_args(Format)

LONGEST = 1000
"""Maximum length in characters of a message and of each string field: servers and programs send strings of any length.
"""


def shortened(text: str) -> str:
    """Return at most `LONGEST` characters of a string. A cut string ends in `…`."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Log:
    """Writer of events: one JSON object per line for machines, or plain text for people.

    Every line has `time` (RFC 3339, UTC), `level` and `message`, then the fields of the event. A field that is None is
    left out. Callers must not pass secrets in fields; usual fields are names, codes and messages of servers.
    """

    format: Format = "json"
    always: Mapping[str, Value] = field(default_factory=dict)
    """Fields that every JSON line has in addition; plain text leaves them out."""
    stream: TextIO = field(default_factory=lambda: sys.stderr)

    def info(self, message: str, **fields: Value) -> None:
        """Log an expected event."""
        self._write("info", message, fields)

    def warning(self, message: str, **fields: Value) -> None:
        """Log a problem after which the work goes on."""
        self._write("warning", message, fields)

    def error(self, message: str, **fields: Value) -> None:
        """Log a problem that ends the work."""
        self._write("error", message, fields)

    def fault(self, error: BaseException, **fields: Value) -> None:
        """Log an unexpected exception with the file and line that raised it."""
        self.error("A fault of this program", error=repr(error), where=_place(error), **fields)

    def _write(self, level: Level, message: str, given: Mapping[str, Value]) -> None:
        message = shortened(message)
        fields = {
            key: shortened(value) if isinstance(value, str) else value
            for key, value in given.items()
            if value is not None
        }
        time = now("milliseconds")
        if self.format == "json":
            line = json.dumps({"time": time, "level": level, "message": message, **fields, **self.always})
        else:
            line = " ".join([time, level.upper(), message, *(f"{key}={value}" for key, value in fields.items())])
            line = visible(line.replace("\n", " "))
        self.stream.write(f"{line}\n")
        self.stream.flush()


def visible(text: str) -> str:
    """Return a string with each character that is not printable written as an escape, such as `\\x1b`.

    Messages have parts that servers choose. In a terminal, the characters ESC, CR and C1 would move the cursor, and
    direction marks would reorder the letters.
    """
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def identity(environment: Mapping[str, str]) -> dict[str, Value]:
    """Return the log fields `run` and `pod`: the names of the run and the pod, without those that are unknown."""
    found = {"run": environment.get(RUN_ENV), "pod": environment.get(POD_ENV)}
    return {key: value for key, value in found.items() if value}


def _place(error: BaseException) -> str:
    """Return the file and line that raised an exception, as `file:line`; empty if they are unknown.

    For an exception group they are those of its first exception.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
