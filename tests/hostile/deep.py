"""Folders that are nested deeper than Python's stack, and deeper than a path can be long."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEEP, NAME = 1_200, "d"
"""How many folders of this name are nested. Python's stack has 1,000 calls, and a path 4,096 bytes."""

FAR, LONG_NAME = 25, "d" * 200
"""The same, for a path that is too long."""


@contextmanager
def place() -> Iterator[Path]:
    """An empty folder. Those of pytest are removed by a function that recurses."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def nest(folder: Path, depth: int = DEEP, name: str = NAME) -> None:
    """Make folders in a folder, and a file in the last one."""
    folder.mkdir(parents=True, exist_ok=True)
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def depth(folder: Path) -> int:
    """How many folders `NAME` are nested in a folder."""
    found, here = 0, os.open(folder, os.O_RDONLY)
    while True:
        try:
            inner = os.open(NAME, os.O_RDONLY, dir_fd=here)
        except FileNotFoundError:
            return found
        finally:
            os.close(here)
        here, found = inner, found + 1
