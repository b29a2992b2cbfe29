"""A second process that swaps files and folders while a copy works, and the files outside that nobody may touch."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.swapper import ASIDE
from tests.repositories import REPOSITORY

AT_ONCE = 10
"""Races of one test."""

SECRET = b"of another team"
NAMES = (
    *("a", "sub/b", "data/a", "x", "parts/x", "cube/parts/x", "datacubes/cube/parts/x", "locks/data", "known.jsonl"),
    *("listing.jsonl", "progress.json", "files.jsonl", "complete.json", "stowplan-probe", "incomplete/x.part"),
)
"""Of files of agents, so that a link to the folder around them leads to them."""

READABLE = ("folder", "file", "nothing", "pipe")
"""Kinds of what is put into a place whose files are sent away. Who can give a file another name can read it."""
KINDS = (*READABLE, "name")


@dataclass(frozen=True)
class Outside:
    """A folder outside of the claim."""

    folder: Path
    names: Sequence[str] = NAMES

    def __post_init__(self) -> None:
        for name in ("file", *(f"folder/{name}" for name in self.names)):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(SECRET)

    def seen(self) -> dict[str, object]:
        """All that somebody may have changed in it."""
        found: dict[str, object] = {}
        for path in self.folder.rglob("*"):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else path.is_symlink()
            found[str(path)] = (content, status.st_mode, status.st_mtime_ns, status.st_ino)
        return found

    @contextmanager
    def swapped(self, seed: int, kinds: tuple[str, ...], favourite: Path, *folders: Path) -> Iterator[None]:
        """While things lead here for moments in these folders, and most often at the favourite place."""
        words = [str(seed), str(self.folder), ",".join(kinds), str(favourite), *map(str, folders)]
        command = [sys.executable, "-m", "tests.hostile.swapper", *words]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout
                assert process.stdout.readline() == "begun\n"
                yield
            finally:
                process.kill()


def cleaned(*folders: Path) -> None:
    """Take away what is swapped when the process is killed."""
    for folder in folders:
        for aside in folder.glob(f"{ASIDE}*"):
            shutil.rmtree(aside) if aside.is_dir() else aside.unlink()
        for path in list(folder.rglob("*")):
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) and (not stat.S_ISREG(status.st_mode) or status.st_nlink > 1):
                path.unlink()


def made(claim: Path) -> dict[str, bytes]:
    """Files of a claim with their content, without links and what has another name outside."""
    files = (path for path in claim.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): path.read_bytes() for path in files if path.lstat().st_nlink == 1}
