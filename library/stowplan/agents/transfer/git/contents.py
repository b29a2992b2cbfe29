"""What a commit holds: sizes, links, submodules and pointers of Git LFS."""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.git.repository import Repository
from stowplan.schema.exit_codes import ExitCode

POINTER_LIMIT = 1024
"""Bytes; a pointer of Git LFS is smaller."""

SHOWN = 10
MOST_LINKS = 40
"""Linux follows no more of them, so a circle leads nowhere."""

_LINK, _SUBMODULE = "120000", "160000"
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """What stands for the content of a file."""

    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class Contents:
    """One commit. Paths are relative, with `/`."""

    files: int = 0
    size: int = 0
    """Bytes of all files, with those of Git LFS as they are in full."""
    pointers: Mapping[str, Pointer] = field(default_factory=dict)
    submodules: Mapping[str, str] = field(default_factory=dict)
    """Commits by path."""

    @property
    def objects(self) -> dict[str, int]:
        """Sizes of what Git LFS must have, by their digest."""
        return {each.oid: each.size for each in self.pointers.values()}


@dataclass(frozen=True, slots=True)
class _Blob:
    mode: str
    name: str
    size: int


def read(repository: Repository, commit: str, *, lfs: bool) -> Contents:
    """Looks at the whole tree; AttemptError (5) where a link leads out of the repository."""
    blobs: dict[str, _Blob] = {}
    submodules: dict[str, str] = {}
    for path, blob in _listed(repository, commit):
        if blob.mode == _SUBMODULE:
            submodules[path] = blob.name
        else:
            blobs[path] = blob
    _check_links(repository, blobs)
    found = Contents(len(blobs), sum(each.size for each in blobs.values()), {}, submodules)
    if not lfs or not any(posixpath.basename(path) == ".gitattributes" for path in blobs):
        return found
    pointers = _pointers(repository, commit, blobs)
    more = sum(each.size - blobs[path].size for path, each in pointers.items())
    return replace(found, size=found.size + more, pointers=pointers)


def _listed(repository: Repository, commit: str) -> Iterator[tuple[str, _Blob]]:
    output = repository.git.offline(repository.place, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    for line in output.split(b"\0")[:-1]:
        fields, _, path = line.partition(b"\t")
        mode, _, name, size = fields.decode("ascii").split()
        yield os.fsdecode(path), _Blob(mode, name, 0 if size == "-" else int(size))


def _check_links(repository: Repository, blobs: dict[str, _Blob]) -> None:
    links = {path: each.name for path, each in blobs.items() if each.mode == _LINK}
    content = _content(repository, links.values())
    targets = {path: os.fsdecode(content[name]) for path, name in links.items()}
    leading = sorted(path for path in targets if leads_out(path, targets))
    if leading:
        names = ", ".join(f"{path!r} to {targets[path]!r}" for path in leading[:SHOWN])
        message = f"{len(leading)} links lead out of the repository, so it was not taken: {names}"
        raise AttemptError(ExitCode.CONFLICT, "LinksLeadOut", message)


def leads_out(path: str, targets: Mapping[str, str]) -> bool:
    """Whether a link, followed through all others, ever leaves the repository or enters Git's own directory."""
    at, rest, followed = "", path.split("/")[::-1], 0
    while rest and followed <= MOST_LINKS:
        segment = rest.pop()
        there = posixpath.join(at, segment)
        target = targets.get(there)
        if segment in ("", "."):
            continue
        if segment == "..":
            if not at:
                return True
            at = posixpath.dirname(at)
        elif target is None:
            if segment.lower() == ".git":
                return True
            at = there
        elif target.startswith("/"):
            return True
        else:
            followed += 1
            rest += target.split("/")[::-1]
    return False


def _pointers(repository: Repository, commit: str, blobs: dict[str, _Blob]) -> dict[str, Pointer]:
    """Small files that the commit's own attributes leave to Git LFS, and that are pointers."""
    git = repository.git
    place = replace(repository.place, variables={"GIT_INDEX_FILE": str(git.folder / "index")})
    git.offline(place, "read-tree", commit)
    small = [path for path, each in blobs.items() if each.mode != _LINK and each.size < POINTER_LIMIT]
    feed = b"".join(os.fsencode(path) + b"\0" for path in small)
    fields = git.offline(place, "check-attr", "--cached", "-z", "--stdin", "filter", feed=feed).split(b"\0")
    chosen = {os.fsdecode(fields[at]) for at in range(0, len(fields) - 2, 3) if fields[at + 2] == b"lfs"}
    content = _content(repository, [blobs[path].name for path in chosen])
    found = {path: _POINTER.match(content[blobs[path].name]) for path in sorted(chosen)}
    return {path: Pointer(each[1].decode(), int(each[2])) for path, each in found.items() if each}


def _content(repository: Repository, names: Iterable[str]) -> dict[str, bytes]:
    """Of small objects, by name."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    feed = "".join(f"{name}\n" for name in wanted).encode()
    output = repository.git.offline(repository.place, "cat-file", "--batch", feed=feed)
    found, at = {}, 0
    for name in wanted:
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        found[name] = output[end + 1 : end + 1 + size]
        at = end + size + 2
    return found
