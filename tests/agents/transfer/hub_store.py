"""The data of a Hub: repositories with branches and commits, and the content of files by digest."""

import hashlib
import itertools
import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LFS_SUFFIXES = (".bin", ".safetensors", ".parquet", ".gz")
LFS_FROM = 10 << 20
"""Files of this size never are in Git itself; those with these names neither, by the usual `.gitattributes`."""


@dataclass(frozen=True)
class Entry:
    """A file of a commit."""

    size: int
    oid: str
    """Of the blob in Git: for LFS of its pointer."""
    sha256: str
    lfs: bool
    xet: str | None = None

    def listed(self, path: str) -> dict[str, Any]:
        """As a listing has it."""
        found: dict[str, Any] = {"type": "file", "oid": self.oid, "size": self.size, "path": path}
        if self.lfs:
            found["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": len(pointer(self.sha256, self.size))}
        return found | ({"xetHash": self.xet} if self.xet else {})


def pointer(sha256: str, size: int) -> bytes:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


def blob(data: bytes) -> str:
    """Git's name of some content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@dataclass
class Repository:
    """One repository. Its newest commit is that of `main`."""

    name: str
    kind: str = "model"
    private: bool = False
    gated: bool = False
    readers: set[str] = field(default_factory=set)
    """Tokens that may read a private or gated repository; those that may write may read."""
    writers: set[str] = field(default_factory=set)
    refs: dict[str, str] = field(default_factory=dict)
    commits: dict[str, dict[str, Entry]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    """Of all commits, in order."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: Any = field(default_factory=itertools.count)

    def commit(self, files: dict[str, Entry], message: str, branch: str = "main") -> str:
        """A new commit on a branch, with these files and no others."""
        text = json.dumps([self.name, next(self._numbers), self.refs.get(branch), sorted(files), message])
        name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self.commits[name] = dict(files)
        self.refs[branch] = name
        self.messages.append(message)
        return name

    def at(self, revision: str) -> str | None:
        """The commit of a revision."""
        return self.refs.get(revision) or (revision if revision in self.commits else None)

    def files(self, revision: str = "main") -> dict[str, Entry]:
        return self.commits[self.refs.get(revision, revision)]


class Store:
    """Repositories of both kinds of content, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repositories: dict[tuple[str, str], Repository] = {}

    def content(self, sha256: str) -> Path:
        return self.folder / sha256

    def keep(self, data: bytes) -> str:
        """Keeps some content under its SHA-256."""
        sha256 = hashlib.sha256(data).hexdigest()
        if not self.content(sha256).exists():
            temporary = self.folder / f".{sha256}.{threading.get_ident()}"
            temporary.write_bytes(data)
            temporary.rename(self.content(sha256))
        return sha256

    def entry(self, path: str, data: bytes, *, lfs: bool | None = None) -> Entry:
        """A file with this content, which is kept."""
        sha256 = self.keep(data)
        stored = is_lfs(path, len(data)) if lfs is None else lfs
        return Entry(len(data), blob(pointer(sha256, len(data)) if stored else data), sha256, stored)

    def make(self, name: str, kind: str = "model", **fields: Any) -> Repository:
        """A new repository with the file that the Hub begins each with."""
        repository = Repository(name, kind, **fields)
        repository.commit({".gitattributes": self.entry(".gitattributes", b"*.bin filter=lfs\n")}, "initial commit")
        self.repositories[kind, name] = repository
        return repository

    def put(
        self, repository: Repository, files: dict[str, bytes], *, gone: Iterable[str] = (), branch: str = "main"
    ) -> str:
        """A commit that adds or changes files, as another user makes it."""
        with repository.lock:
            before = repository.files(branch) if branch in repository.refs else repository.files()
            kept = {path: entry for path, entry in before.items() if path not in set(gone)}
            added = {path: self.entry(path, data) for path, data in files.items()}
            return repository.commit({**kept, **added}, "by another user", branch)

    def read(self, repository: Repository, revision: str = "main") -> dict[str, bytes]:
        """All files with their content, without the one that was there from the beginning."""
        found = repository.files(revision)
        return {
            path: self.content(each.sha256).read_bytes() for path, each in found.items() if path != ".gitattributes"
        }


def is_lfs(path: str, size: int) -> bool:
    return size > 0 and (size >= LFS_FROM or path.endswith(LFS_SUFFIXES))
