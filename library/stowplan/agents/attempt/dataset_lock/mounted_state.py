"""Access to the state directory of a dataset, or of a lineage of checkpoints, through a mount."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.schema.agents.lineage_state import STATE_DIRECTORY

FOLDERS = ("", "lock", "runs")
"""Folders of the state directory that hold files, without the folder of the warmup markers."""

LARGEST = 4096
"""Maximum size in bytes of a file that is read. Marker files and lock flags have less than one thousand bytes."""


@dataclass(frozen=True)
class MountedState:
    """Reads, writes and removes marker files and lock flags of a mounted volume (interface `StateDirectory`).

    `directory` is relative to the mount, and names to it. Contents to write must be UTF-8. All methods raise OSError.
    """

    mount: Path
    directory: str = STATE_DIRECTORY

    def read(self) -> Mapping[str, bytes]:
        """Return the contents of the files by name.

        The content is empty for a file of more than `LARGEST` bytes and for anything but a regular file. The lock and
        the removal of files need only the names.
        """
        found: dict[str, bytes] = {}
        for folder in FOLDERS:
            files = safe_files.files(self.mount, f"{self.directory}/{folder}", LARGEST)
            found |= {f"{folder}/{name}".lstrip("/"): content for name, content in files.items()}
        return found

    def fetch(self, name: str, largest: int) -> bytes | None:
        return safe_files.read(self.mount, f"{self.directory}/{name}", largest)

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            safe_files.write(self.mount, f"{self.directory}/{name}", content.decode())

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            # A directory of this name is ignored: tasks only create and read files.
            with suppress(IsADirectoryError):
                safe_files.remove(self.mount, f"{self.directory}/{name}")
