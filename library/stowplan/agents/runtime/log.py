"""What agents say while they run: one line for each event, on standard error."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TextIO, get_args

from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents.cache_config import POD_ENV, RUN_ENV

Format = Literal["json", "text"]
Level = Literal["info", "warning", "error"]
Value = str | int | float | None

FORMATS: tuple[Format, ...] = get_args(Format)

LONGEST = 1000
"""Characters of a message, and of each string in a field: what servers and programs say may be of any length."""


def shortened(text: str) -> str:
    """The beginning of a text that is longer than `LONGEST`."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _standard_error() -> TextIO:
    return sys.stderr


@dataclass(frozen=True, slots=True)
class Log:
    """Writes events: one JSON object a line for machines, or plain text for people.

    Every line has `time` (RFC 3339, UTC), `level` and `message`, then the fields of the event and those in `always`.
    A field that is None is left out. Fields never carry secrets: a caller gives names, codes and what a server said.
    """

    format: Format = "json"
    always: Mapping[str, Value] = field(default_factory=dict)
    stream: TextIO = field(default_factory=_standard_error)

    def info(self, message: str, **fields: Value) -> None:
        """Something went as it should."""
        self._write("info", message, fields)

    def warning(self, message: str, **fields: Value) -> None:
        """Something went wrong, and the work goes on."""
        self._write("warning", message, fields)

    def error(self, message: str, **fields: Value) -> None:
        """Something went wrong for good."""
        self._write("error", message, fields)

    def fault(self, error: BaseException, **fields: Value) -> None:
        """An exception that nobody foresaw, with the place where it was raised."""
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
    """The text with escapes in place of characters that a terminal obeys or hides.

    Servers choose parts of messages: ESC, CR and C1 move the cursor, and marks of direction swap what people read.
    """
    return text if text.isprintable() else "".join(_seen(each) for each in text)


def _seen(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def identity(environment: Mapping[str, str]) -> dict[str, Value]:
    """What every line says of the pod: its run, where it belongs to one, and its name."""
    found = {"run": environment.get(RUN_ENV), "pod": environment.get(POD_ENV)}
    return {key: value for key, value in found.items() if value}


def _place(error: BaseException) -> str:
    """File and line; of a group, those of its first error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
