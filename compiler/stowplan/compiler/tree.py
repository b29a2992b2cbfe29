"""What lies in the output folder. Nothing here follows a link."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from errno import ENOTDIR
from pathlib import Path
from stat import S_ISDIR

TEMPORARY = ".stowplan-tmp-"
"""Start of the names of our temporary files."""

_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY)}(?:[0-9]+|inventory)")


@dataclass(frozen=True, slots=True)
class Tree:
    """The output folder at one moment. Paths are relative, with forward slashes.

    `files` gives the size of each regular file. `others` are links, sockets and the like, which we neither follow nor
    touch. `leftovers` are temporary files of a run that died. Hidden folders are not looked into: nothing of ours is
    there, and `.git` may be.
    """

    root: Path
    files: Mapping[str, int] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    leftovers: frozenset[str] = frozenset()

    def read(self, path: str) -> bytes | None:
        """The content of a regular file; None where there is none."""
        return (self.root / path).read_bytes() if path in self.files or path in self.leftovers else None

    def head(self, path: str, length: int) -> bytes:
        """The first bytes of a regular file; empty where there is none."""
        if path not in self.files:
            return b""
        with (self.root / path).open("rb") as file:
            return file.read(length)


def exists(root: Path) -> bool:
    """Whether the output folder is there. Raises `NotADirectoryError` where a file or a link stands in its place."""
    try:
        mode = root.lstat().st_mode
    except FileNotFoundError:
        return False
    if not S_ISDIR(mode):
        raise NotADirectoryError(ENOTDIR, "it is a file or a link, not a folder", str(root))
    return True


def scan(root: Path) -> Tree:
    """The tree below `root`, empty where there is no such folder. Raises `OSError` where it cannot be read."""
    if not exists(root):
        return Tree(root)
    files: dict[str, int] = {}
    folders: set[str] = set()
    others: set[str] = set()
    leftovers: set[str] = set()
    todo = [""]
    while todo:
        parent = todo.pop()
        with os.scandir(root / parent) as entries:
            for entry in entries:
                path = f"{parent}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.add(path)
                    if not entry.name.startswith("."):
                        todo.append(f"{path}/")
                elif not entry.is_file(follow_symlinks=False):
                    others.add(path)
                elif _TEMPORARY.fullmatch(entry.name):
                    leftovers.add(path)
                else:
                    files[path] = entry.stat(follow_symlinks=False).st_size
    return Tree(root, files, frozenset(folders), frozenset(others), frozenset(leftovers))
