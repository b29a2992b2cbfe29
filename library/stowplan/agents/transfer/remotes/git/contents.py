"""Content of a commit: sizes, links, submodules and Git LFS pointers.

A malicious tree of a few kilobytes can stand for 10^10 files. So the listing of a tree is processed as a stream, and
only the needed entries are stored.
"""

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT, Pointer, pointer_of
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode

SHOWN = 10
"""Maximum number of paths that an error message lists."""

MOST_LINKS = 40
"""Maximum number of links that are followed in one path, as in Linux, so that circles of links end."""

MOST_FILES = 10_000_000
"""Maximum number of files in one commit."""

LONGEST_TARGET = 4096
"""Maximum length of a link's target in bytes, as for any path on Linux."""

ENTRY_BYTES = 400
"""Estimated memory in bytes of one stored path, without its characters."""

_AT_ONCE = 4096
"""Objects per call of `git cat-file`: 16 MiB of links at most."""

SUBMODULE = b"160000"
"""Mode of a submodule in a tree."""

_LINK = b"120000"


@dataclass(frozen=True, slots=True)
class Contents:
    """Content of one commit. Paths are relative to the root of the repository."""

    files: int = 0
    """Number of files and links."""
    size: int = 0
    """Total size of all files in bytes, with the full size of Git LFS files."""
    pointers: Mapping[str, Pointer] = field(default_factory=dict)
    """Git LFS pointers by path."""
    submodules: Mapping[str, str] = field(default_factory=dict)
    """Commits of submodules by path."""

    @property
    def objects(self) -> dict[str, int]:
        """Sizes in bytes of all Git LFS objects of the commit, by digest."""
        return {each.oid: each.size for each in self.pointers.values()}


class _Listing:
    """Counts of a tree's files and bytes, and the entries whose content is needed.

    `limit` is the maximum memory in bytes for these entries. With `lfs` they include all possible Git LFS pointers.
    """

    def __init__(self, limit: int, *, lfs: bool) -> None:
        self._limit, self._lfs = limit, lfs
        self.files = self.size = 0
        self.has_attributes = False
        self.links: dict[str, str] = {}
        """Names of Git objects of links, by path."""
        self.small: dict[str, str] = {}
        """Names of Git objects of files that may be Git LFS pointers, by path."""
        self.submodules: dict[str, str] = {}
        """Commits of submodules by path."""

    def take(self, record: bytes) -> None:
        r"""Parse a record `mode type name size\tpath`. Raises AttemptError (5) for too many files."""
        fields, _, raw = record.partition(b"\t")
        mode, _, raw_name, size = fields.split()
        path, name = os.fsdecode(raw), raw_name.decode("ascii")
        if size == b"BAD":
            raise _missing(name)
        if mode == SUBMODULE:
            self._keep(self.submodules, path, name)
            return
        self.files += 1
        if self.files > MOST_FILES:
            message = f"The commit has more than {MOST_FILES} files, so it was not taken"
            raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
        self.size += int(size)
        if mode == _LINK:
            if int(size) > LONGEST_TARGET:
                message = f"The link {path!r} holds {int(size)} bytes, and no path has more than {LONGEST_TARGET}"
                raise AttemptError(ExitCode.CONFLICT, "LinksLeadOut", message)
            self._keep(self.links, path, name)
            return
        self.has_attributes = self.has_attributes or posixpath.basename(path) == ".gitattributes"
        if self._lfs and int(size) < POINTER_LIMIT:
            self._keep(self.small, path, name)

    def _keep(self, where: dict[str, str], path: str, name: str) -> None:
        self._limit -= len(path) + ENTRY_BYTES
        if self._limit < 0:
            message = (
                f"The commit has so many small files, links or submodules that the memory of this pod cannot hold their"
                f" paths, after {self.files} files: give it more (`executor.resources`)"
            )
            raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
        where[path] = name


def read(repository: Repository, commit: str, *, lfs: bool) -> Contents:
    """Read the whole tree of a commit and return its content. With `lfs` this includes Git LFS pointers.

    Raises AttemptError (5) if a link leads out of the repository, or if the tree is too large.
    """
    listing = _Listing((repository.git.settings.common.free_mib << 20) // 2, lfs=lfs)
    listed(repository, commit, listing.take)
    _check_links(repository, listing.links)
    found = Contents(listing.files, listing.size, {}, listing.submodules)
    if not lfs or not listing.has_attributes:
        return found
    pointers, own = _pointers(repository, commit, listing.small)
    size = found.size - own + sum(each.size for each in pointers.values())
    return replace(found, size=size, pointers=pointers)


def listed(repository: Repository, commit: str, take: Callable[[bytes], None]) -> None:
    """Pass each entry of a commit's tree to `take`, in the format of `git ls-tree -l`."""
    records = Records(take)
    words = ("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    repository.git.streamed(repository.place, *words, take=records.take)


class Records:
    """Splits a stream of bytes at NUL bytes, and calls `give` with each record, without its NUL."""

    def __init__(self, give: Callable[[bytes], None]) -> None:
        self._give = give
        self._rest = b""

    def take(self, chunk: bytes) -> None:
        """Add the next bytes of the stream. A record may begin and end in different chunks."""
        *whole, self._rest = (self._rest + chunk).split(b"\0")
        for each in whole:
            self._give(each)


def _check_links(repository: Repository, links: Mapping[str, str]) -> None:
    """Raise AttemptError (5) if a link leads out of the repository. `links` are names of Git objects by path."""
    content = dict(contents_of(repository, links.values()))
    targets = {path: os.fsdecode(content[name]) for path, name in links.items()}
    leading = sorted(path for path in targets if leads_out(path, targets))
    if leading:
        names = ", ".join(f"{path!r} to {targets[path]!r}" for path in leading[:SHOWN])
        message = f"{len(leading)} links lead out of the repository, so it was not taken: {names}"
        raise AttemptError(ExitCode.CONFLICT, "LinksLeadOut", message)


def leads_out(path: str, targets: Mapping[str, str]) -> bool:
    """Return whether the link at `path` leads out of the repository or into Git's own directory.

    Further links on the way are followed too. `targets` has the targets of all links by path.
    """
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


def _pointers(repository: Repository, commit: str, small: Mapping[str, str]) -> tuple[dict[str, Pointer], int]:
    """Return the Git LFS pointers by path, and the sum of the sizes of the pointers themselves in bytes.

    `small` are names of Git objects by path. Of them, the `.gitattributes` of the commit say which belong to Git LFS.
    """
    git = repository.git
    place = replace(repository.place, variables={"GIT_INDEX_FILE": str(git.folder / "index")})
    git.offline(place, "read-tree", commit)
    chosen: list[str] = []
    fields: list[bytes] = []

    def take(field_: bytes) -> None:
        """Collect three fields (path, attribute, value), then add the path to `chosen` if the value is `lfs`."""
        fields.append(field_)
        if len(fields) == 3:
            if fields[2] == b"lfs":
                chosen.append(os.fsdecode(fields[0]))
            fields.clear()

    feed = b"".join(os.fsencode(path) + b"\0" for path in small)
    words = ("check-attr", "--cached", "-z", "--stdin", "filter")
    git.streamed(place, *words, take=Records(take).take, feed=feed)
    texts = contents_of(repository, [small[path] for path in chosen])
    pointers = {name: (pointer, len(text)) for name, text in texts if (pointer := pointer_of(text))}
    of_lfs = [(path, *pointers[small[path]]) for path in sorted(chosen) if small[path] in pointers]
    return {path: pointer for path, pointer, _ in of_lfs}, sum(own for _, _, own in of_lfs)


def contents_of(repository: Repository, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of small Git objects, each once. Raises AttemptError (11) if one is missing."""
    wanted = iter(dict.fromkeys(names))
    while batch := list(islice(wanted, _AT_ONCE)):
        feed = "".join(f"{name}\n" for name in batch).encode()
        output = repository.git.offline(repository.place, "cat-file", "--batch", feed=feed)
        at = 0
        for name in batch:
            end = output.index(b"\n", at)
            fields = output[at:end].split()
            if len(fields) < 3:
                raise _missing(name)
            size = int(fields[2])
            yield name, output[end + 1 : end + 1 + size]
            at = end + size + 2


def _missing(name: str) -> AttemptError:
    message = (
        f"Object {name} of the clone in the claim is missing or damaged: remove the clone, so that it is made anew"
    )
    return AttemptError(ExitCode.INTEGRITY, "Corrupt", message)
