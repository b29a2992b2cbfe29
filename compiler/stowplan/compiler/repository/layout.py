"""What a user's repository is made of."""

import os

PLATFORM_FILES = ("stowplan.yaml", "stowplan.yml")
"""Names of the platform file, of which there is one."""

SPECS = "specs"
"""The folder of the specs."""

SUFFIXES = (".yaml", ".yml")
"""How names of spec files end."""

MAX_FILE_SIZE = 1 << 20
"""Bytes. etcd takes objects up to 1.5 MiB; a file of specs is a few KiB, so more is a mistake such as a data file."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""Windows would change the ends of lines."""

_USUAL_SIZE = 1 << 14
"""Bytes that most files have not. Room for the largest would be made, and given back, for each of thousands."""


def read(place: str, flags: int = 0) -> bytes:
    """The content of a file, or so much of it that it is too large. `flags` are more of `os.open`. Raises `OSError`."""
    file = os.open(place, _READ | flags)
    try:
        content = os.read(file, _USUAL_SIZE)
        while len(content) <= MAX_FILE_SIZE and (more := os.read(file, MAX_FILE_SIZE)):
            content += more
    finally:
        os.close(file)
    return content
