"""Edits of tracked files, which Git confuses with files that its own conversions do not give back.

Attributes convert files: `filter=lfs`, `text`, `eol`, `working-tree-encoding`, `ident`. A commit may hold content that
no conversion of a checked-out file results in, such as a plain file that belongs to Git LFS, or CRLF in a text file.
Once Git reads such a file again it takes it for edited. It is not, if it is what a checkout writes.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace

from stowplan.agents.transfer.remotes.git.commit.listing import FILE, contents_of
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT, Pointer, pointer_of
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.agents.transfer.tree import Tree, blocks


@dataclass(frozen=True)
class Edits:
    """Paths, relative to the work tree, of tracked files that Git takes for edited."""

    edited: list[str] = field(default_factory=list)
    """Files that differ from the checked-out commit, in the work tree or in the index."""
    converted: list[str] = field(default_factory=list)
    """Files that are as a checkout of the commit writes them."""


def find(repository: Repository, *, refresh: bool) -> Edits:
    """Return the tracked files that Git takes for edited. With `refresh` Git may update its index meanwhile."""
    found, changes = Edits(), dict[str, str]()
    place = replace(repository.place, variables={"GIT_OPTIONAL_LOCKS": "1"}) if refresh else repository.place
    words = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")
    for record in repository.git.records(place, *words):
        path, name = _parsed(record)
        if name:
            changes[path] = name
        else:
            found.edited.append(path)
    if changes:
        with closing(repository.tree(repository.path, create=False)) as tree:
            for path, name in changes.items():
                (found.converted if _is_checked_out(repository, tree, path, name) else found.edited).append(path)
    return found


def _parsed(record: bytes) -> tuple[str, str]:
    """Return the path of a record of `git status`, and the name of its object in the index.

    The name is empty unless it is a file of which the content in the work tree alone differs.
    """
    if not record.startswith(b"1 "):
        # A conflict: `u XY sub m1 m2 m3 mW h1 h2 h3 path`.
        return os.fsdecode(record.split(b" ", 10)[-1]), ""
    _, kinds, _, _, index, work, _, name, raw = record.split(b" ", 8)
    is_content = kinds == b".M" and index == work and work.startswith(FILE)
    return os.fsdecode(raw), name.decode() if is_content else ""


def _is_checked_out(repository: Repository, tree: Tree, path: str, name: str) -> bool:
    """Return whether a file holds what a checkout writes for an object of Git, or the content of the object itself."""
    try:
        descriptor = tree.reader(path)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        own = hashlib.new("sha256" if len(name) == 64 else "sha1", usedforsecurity=False)
        content = hashlib.sha256()
        own.update(b"blob %d\0" % size)
        for block in blocks(descriptor, repository.git.work.stop.check):
            own.update(block)
            content.update(block)
        if own.hexdigest() == name:
            return True
        if pointer := _pointer(repository, name):
            return pointer == Pointer(content.hexdigest(), size)
        return _is_filtered(repository, path, name, file.read)


def _pointer(repository: Repository, name: str) -> Pointer | None:
    """Return the Git LFS pointer in an object of Git, which the file may hold the content of; None if it is none."""
    if int(repository.git.offline(repository.place, "cat-file", "-s", name)) >= POINTER_LIMIT:
        return None
    return next((pointer_of(text) for _, text in contents_of(repository, [name])), None)


def _is_filtered(repository: Repository, path: str, name: str, read: Callable[[int], bytes]) -> bool:
    """Return whether `read` gives what Git writes for the file when it checks it out."""
    same = True
    words = ("cat-file", "--filters", f"--path={path}", name)
    for chunk in repository.git.streamed(repository.place, *words):
        same = same and read(len(chunk)) == chunk
    return same and not read(1)
