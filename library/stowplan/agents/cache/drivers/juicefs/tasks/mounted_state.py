"""The state directory as a mount shows it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.schema.agents.marker import STATE_DIRECTORY

FOLDERS = ("", "lock", "runs")
"""Where files are, beside the warmup markers."""

LARGEST = 4096
"""Bytes of a file that is read: markers and flags have less than one thousand."""


@dataclass(frozen=True)
class MountedState:
    """See `State`. OSErrors are left to the caller's frame."""

    mount: Path

    def read(self) -> Mapping[str, bytes]:
        """Content is empty for what is no small regular file: the lock goes by names, and so does removal."""
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
            # A directory is nothing of ours, and nothing that a task would wait for.
            with suppress(IsADirectoryError):
                safe_files.remove(self.mount, f"{STATE_DIRECTORY}/{name}")
