"""What one command remembers of its last run on one repository, as files of typed values.

It saves time and decides nothing: whatever is lost, foreign or unreadable is compiled or hashed again.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import DecodeError, msgpack

from stowplan.compiler.cache import fingerprint, private_files

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Record:
    """The place in the cache of a repository, or of a repository and its output folder."""

    folders: tuple[Path, ...]

    def read(self, name: str, kind: type[Value]) -> Value | None:
        """What was written under a name; None where that is missing or cannot be read as this type."""
        content = private_files.read(self._path(name))
        if content is None:
            return None
        try:
            return msgpack.decode(content, type=kind)
        except (DecodeError, RecursionError):
            return None

    def write(self, name: str, value: object) -> None:
        """Replace what was written under a name. Values that cannot be encoded are not remembered."""
        with suppress(OSError, OverflowError, TypeError, ValueError):
            private_files.write(self._path(name), msgpack.encode(value))

    def remove(self, name: str) -> None:
        """Remove what was written under a name."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        places = [os.path.realpath(folder) for folder in self.folders]
        return private_files.folder() / f"{fingerprint.of(*places)}.{name}"
