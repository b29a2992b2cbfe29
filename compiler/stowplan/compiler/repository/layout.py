"""Layout and limits of a user's repository."""

import os

PLATFORM_FILES = ("stowplan.yaml", "stowplan.yml")
"""Allowed names of the platform file; a repository has one."""

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
