"""Layout and limits of a user's repository."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stowplan.compiler.diagnostics.locations import PLATFORM_FILE, PLATFORM_FILES

SPECS = "specs"
"""The folder of the specs."""

SUFFIXES = (".yaml", ".yml")
"""Suffixes of spec files."""

MAX_FILE_SIZE = 1 << 20
"""Size in bytes of the largest file that is read: 1 MiB. Specs have a few KiB, so a larger file is a mistake.

etcd accepts objects up to 1.5 MiB.
"""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""Flags for binary reading; without `O_BINARY`, Windows would change line ends."""

_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""A flag with which the opening of a pipe does not wait for somebody who writes to it."""

_USUAL_SIZE = 1 << 14
"""Size in bytes that few files exceed. A buffer for the largest size, for each of thousands of files, would be slow."""


def read(place: str, flags: int = 0) -> bytes:
    """Return the content of a file; of a file above `MAX_FILE_SIZE`, only a part that is longer than the limit.

    `flags` are further flags for `os.open`. Raises `OSError`.
    """
    file = os.open(place, _READ | flags)
    try:
        content = os.read(file, _USUAL_SIZE)
        while len(content) <= MAX_FILE_SIZE and (more := os.read(file, MAX_FILE_SIZE)):
            content += more
    finally:
        os.close(file)
    return content


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository: its folder, and the platform file by which a command compiles it.

    `platform` is the path of the platform file relative to the folder, with forward slashes; empty if it has one of the
    usual names. `app` is that of the Python file whose app makes specs; empty if there is none.
    """

    folder: Path
    platform: str = ""
    app: str = ""

    @property
    def platform_files(self) -> tuple[str, ...]:
        """The paths that the platform file may have, relative to the folder; one of them should exist."""
        return (self.platform,) if self.platform else PLATFORM_FILES

    @property
    def runs_file(self) -> str:
        """The path, relative to the folder, of the list of finished runs that are kept out of the output.

        `stowplan.runs.yaml`; beside another platform file `gpu.yaml` it is `gpu.runs.yaml`. A repository may have none.
        """
        return f"{PurePosixPath(self.platform or PLATFORM_FILE).with_suffix('')}.runs.yaml"

    @property
    def lock_file(self) -> str:
        """The path, relative to the folder, of the lock file: `stowplan.lock`, beside `gpu.yaml` it is `gpu.lock`.

        A repository may have none.
        """
        return f"{PurePosixPath(self.platform or PLATFORM_FILE).with_suffix('')}.lock"

    @property
    def usual_output(self) -> Path:
        """The output folder of commands without `--out`: `out`, or for another platform file `gpu.yaml` `out-gpu`."""
        return self.folder / (f"out-{PurePosixPath(self.platform).stem}" if self.platform else "out")

    @property
    def top_files(self) -> tuple[str, ...]:
        """The paths of all files beside the folder of the specs that may be read."""
        return (*self.platform_files, self.runs_file, self.lock_file)

    def may_have(self, field: str) -> bool:
        """Whether the platform file may have a field. No YAML is read for it, so True may be wrong."""
        for name in self.platform_files:
            try:
                content = read(f"{self.folder}/{name}", _AT_ONCE)
            except OSError:
                continue
            # A quoted key may be written with escapes.
            if field.encode() in content or b"\\" in content:
                return True
        return False
