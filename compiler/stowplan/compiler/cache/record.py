"""Typed values that the last command on a repository stored in the cache for the next one.

The cache only saves time: a value that is lost, written by another user or unreadable is computed again.
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
    """Access to the stored values of one repository, or of one repository and its output folder, by name.

    `platform` is the path of the platform file, as in `Repository`.
    """

    folders: tuple[Path, ...]
    platform: str = ""

    def read(self, name: str, kind: type[Value]) -> Value | None:
        """Return the value that was stored under a name; None if it is missing or not of the type `kind`."""
        content = private_files.read(self._path(name))
        if content is None:
            return None
        try:
            return msgpack.decode(content, type=kind)
        except (DecodeError, RecursionError):
            return None

    def write(self, name: str, value: object) -> None:
        """Store a value under a name, in place of the old one. A value that cannot be encoded or written is skipped."""
        with suppress(OSError, OverflowError, TypeError, ValueError):
            private_files.write(self._path(name), msgpack.encode(value))

    def remove(self, name: str) -> None:
        """Remove the value that was stored under a name, if there is one."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        places = [os.path.realpath(folder) for folder in self.folders]
        return private_files.folder() / f"{fingerprint.of(*places, *filter(None, [self.platform]))}.{name}"
