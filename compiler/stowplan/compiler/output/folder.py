"""Contents of the output folder. Nothing here follows a link."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from errno import ENOTDIR
from pathlib import Path
from stat import S_ISDIR
from typing import Protocol

TEMPORARY = ".stowplan-tmp-"
"""Prefix of the names of temporary files in the output folder."""

GIT = ".git"
"""Entry by which Git knows the top of a work tree. No commit can hold it."""

LOCK = ".stowplan.lock"
"""File at the top that a command locks while it writes. It is no content of the folder."""

_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY)}(?:[0-9]+|inventory)")
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""Flags for binary reading; without `O_BINARY`, Windows would change line ends."""
_CHUNK = 1 << 20


class OutputFiles(Protocol):
    """Files of an output folder, on disk or in a commit, by paths relative to the folder, with forward slashes."""

    @property
    def files(self) -> Collection[str]:
        """The paths of all regular files."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if there is none."""

    def head(self, path: str, length: int) -> bytes:
        """Return the first `length` bytes of a file, or all if it is shorter; empty if there is none."""


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """Files of an output folder in a commit. `contents` has their contents by path."""

    contents: Mapping[str, bytes]

    @property
    def files(self) -> Collection[str]:
        return self.contents.keys()

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)

    def head(self, path: str, length: int) -> bytes:
        return self.contents.get(path, b"")[:length]


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """The paths of all entries of the output folder `root`, as they were when it was listed.

    Paths are relative to `root`, with forward slashes. `files` are regular files. `others` are links, sockets and the
    like, which are neither followed nor changed. `leftovers` are temporary files of a crashed command. `empty` are
    those `folders` that have no entries; Git stores no empty folder, but checks out a submodule as one. Hidden folders
    are searched too, because Argo CD reads them, except for `.git` at the top.
    """

    root: Path
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    leftovers: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()

    @property
    def is_work_tree(self) -> bool:
        """Whether the folder is the top of a Git work tree, so that other files of this tree lie there too."""
        return GIT in self.folders or GIT in self.files

    def read(self, path: str) -> bytes | None:
        """Return the content of a regular file, None if it is not listed. Raises `OSError`, also if it has gone."""
        return (self.root / path).read_bytes() if path in self.files or path in self.leftovers else None

    def head(self, path: str, length: int) -> bytes:
        """Return the first `length` bytes of a regular file, or all; empty if it is not listed. Raises as `read`."""
        return _head(f"{self.root}/{path}", length) if path in self.files else b""

    def holds(self, path: str, content: bytes) -> bool:
        """Whether `path` is a readable regular file with exactly this content."""
        try:
            return path in self.files and _holds(f"{self.root}/{path}", content)
        except OSError:
            return False


def is_temporary(name: str) -> bool:
    """Whether `name`, without a folder, is that of a temporary file, which a command writes and then renames."""
    return name.startswith(TEMPORARY) and _TEMPORARY.fullmatch(name) is not None


def exists(root: Path) -> bool:
    """Whether the output folder exists. Raises `NotADirectoryError` if a file or a link is in its place."""
    try:
        mode = root.lstat().st_mode
    except FileNotFoundError:
        return False
    if not S_ISDIR(mode):
        raise NotADirectoryError(ENOTDIR, "it is a file or a link, not a folder", str(root))
    return True


def scan(root: Path) -> OutputFolder:
    """List the output folder `root`; empty if it does not exist. Raises `OSError` if it cannot be read."""
    if not exists(root):
        return OutputFolder(root)
    files: set[str] = set()
    folders: set[str] = set()
    others: set[str] = set()
    leftovers: set[str] = set()
    empty: set[str] = set()
    todo = [""]
    while todo:
        parent = todo.pop()
        name = ""
        with os.scandir(f"{root}/{parent}") as entries:
            for entry in entries:
                name = entry.name
                if entry.is_file(follow_symlinks=False):
                    if parent + name == LOCK:
                        continue
                    (leftovers if is_temporary(name) else files).add(parent + name)
                elif not entry.is_dir(follow_symlinks=False):
                    others.add(parent + name)
                else:
                    folders.add(parent + name)
                    if parent or name != GIT:
                        todo.append(f"{parent}{name}/")
        if parent and not name:
            empty.add(parent.rstrip("/"))
    return OutputFolder(root, *map(frozenset, (files, folders, others, leftovers, empty)))


def seen(root: Path) -> OutputFolder:
    """Return the listed output folder `root`; empty if it does not exist or cannot be read.

    A later write or comparison reports the error.
    """
    try:
        return scan(root)
    except OSError:
        return OutputFolder(root)


def contents(root: Path) -> dict[str, bytes]:
    """Return the contents of all files below the output folder `root`, by path; empty without it. Raises `OSError`."""
    tree = scan(root)
    return {path: content for path in sorted(tree.files) if (content := tree.read(path)) is not None}


def _holds(path: str, content: bytes) -> bool:
    """Whether a file has exactly this content. It is read in parts, so that no large file is in memory twice.

    A copied part is compared far faster than a view.
    """
    descriptor, at = os.open(path, _READ), 0
    try:
        while found := os.read(descriptor, min(len(content) - at + 1, _CHUNK)):
            if content[at : at + len(found)] != found:
                return False
            at += len(found)
        return at == len(content)
    finally:
        os.close(descriptor)


def _head(path: str, length: int) -> bytes:
    descriptor = os.open(path, _READ)
    try:
        found = os.read(descriptor, length)
        while 0 < len(found) < length and (more := os.read(descriptor, length - len(found))):
            found += more
        return found
    finally:
        os.close(descriptor)
