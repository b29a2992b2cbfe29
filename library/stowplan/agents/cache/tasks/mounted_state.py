"""The state directory as a mount shows it."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.safe_files import replace
from stowplan.schema.marker import STATE_DIRECTORY

FOLDERS = ("", "lock", "runs")
"""Where files are, beside the warmup markers."""

LARGEST = 1 << 20


@dataclass(frozen=True)
class MountedState:
    """See `State`. OSErrors are left to the caller's frame."""

    mount: Path

    def read(self) -> Mapping[str, bytes]:
        found: dict[str, bytes] = {}
        for folder in FOLDERS:
            path = self._folder / folder
            try:
                names = sorted(each.name for each in path.iterdir())
            except FileNotFoundError:
                continue
            for name in names:
                # Files come and go; folders are named above.
                with suppress(FileNotFoundError, IsADirectoryError):
                    found[f"{folder}/{name}" if folder else name] = _content(path / name)
        return found

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, content.decode())

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    @property
    def _folder(self) -> Path:
        return self.mount / STATE_DIRECTORY


def _content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.read(descriptor, LARGEST)
    finally:
        os.close(descriptor)
