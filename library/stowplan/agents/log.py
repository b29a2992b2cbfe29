"""What agents say while they run: one line for each event, on standard error."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TextIO, get_args

Format = Literal["json", "text"]
Level = Literal["info", "warning", "error"]
Value = str | int | float | None

FORMATS: tuple[Format, ...] = get_args(Format)


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
        self._write("info", message, fields)

    def warning(self, message: str, **fields: Value) -> None:
        self._write("warning", message, fields)

    def error(self, message: str, **fields: Value) -> None:
        self._write("error", message, fields)

    def _write(self, level: Level, message: str, given: Mapping[str, Value]) -> None:
        fields = {key: value for key, value in given.items() if value is not None}
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self.format == "json":
            line = json.dumps({"time": time, "level": level, "message": message, **fields, **self.always})
        else:
            line = " ".join([time, level.upper(), message, *(f"{key}={value}" for key, value in fields.items())])
            line = line.replace("\n", " ")
        self.stream.write(f"{line}\n")
        self.stream.flush()
