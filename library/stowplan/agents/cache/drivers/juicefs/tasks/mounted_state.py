"""State directory accessed through a mount."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.schema.agents.marker import STATE_DIRECTORY

FOLDERS = ("", "lock", "runs")
"""Folders that hold files, besides the folder of the warmup markers."""

LARGEST = 4096
"""Maximum size in bytes of a file that is read: markers and flags have less than one thousand."""


@dataclass(frozen=True)
class MountedState:
    """Implements `State`. The caller handles OSErrors."""

    mount: Path

    def read(self) -> Mapping[str, bytes]:
        """Return the files.

        The content of anything but a small regular file is empty; lock and removal need only names.
        """
        found: dict[str, bytes] = {}
        for folder in FOLDERS:
            files = safe_files.files(self.mount, f"{STATE_DIRECTORY}/{folder}", LARGEST)
            found |= {f"{folder}/{name}".lstrip("/"): content for name, content in files.items()}
        return found

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            safe_files.write(self.mount, f"{STATE_DIRECTORY}/{name}", content.decode())

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            # No task creates or waits for a directory of this name.
            with suppress(IsADirectoryError):
                safe_files.remove(self.mount, f"{STATE_DIRECTORY}/{name}")
