"""Content of a commit: sizes, links, submodules and Git LFS pointers; and whether a work tree has all of it.

Only the needed entries of a tree are stored.
"""

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.transfer.files.source import OUT, LinkError, resolved
from stowplan.agents.transfer.remotes.git.commit import attributes
from stowplan.agents.transfer.remotes.git.commit.listing import FILE, LINK, SUBMODULE, contents_of, listed, missing
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT, Pointer, pointer_of
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode

MOST_FILES = 10_000_000
"""Maximum number of files in one commit."""

LONGEST_TARGET = 4096
"""Maximum length of a link's target in bytes, as for any path on Linux."""

POINTER_BYTES = range(120, 160)
"""Sizes in bytes of pointers without extensions, whatever their line ends: of the blobs of a commit few have them."""

ENTRY_BYTES = 400
"""Estimated memory in bytes of one stored path, without its characters."""

_RESIZING = ("eol", "filter", "ident", "working-tree-encoding")
"""Attributes by which a checkout writes another number of bytes. `text` alone changes nothing on Linux."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Content of one commit. Paths are relative to the root of the repository."""

    files: int = 0
    """Number of files and links."""
    size: int = 0
    """Total size of all files in bytes, with the full size of Git LFS files."""
    pointers: Mapping[str, Pointer] = field(default_factory=dict)
    """Git LFS pointers by path, whose content a checkout writes."""
    bare_pointers: Sequence[str] = ()
    """Paths of other files that are pointers: no attributes give them to Git LFS, or its content is not wanted."""
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
        """Names of Git objects of files that may belong to Git LFS, by path."""
        self.likely: dict[str, str] = {}
        """Names of Git objects of files with the size of a Git LFS pointer, by path."""
        self.submodules: dict[str, str] = {}
        """Commits of submodules by path."""

    def take(self, mode: bytes, raw_name: bytes, size: bytes, raw: bytes) -> None:
        """Count an entry as `listed` yields it. Raises AttemptError (5) for too many files."""
        path, name = os.fsdecode(raw), raw_name.decode("ascii")
        if size == b"BAD":
            raise missing(name)
        if mode == SUBMODULE:
            self._keep(self.submodules, path, name)
            return
        self.files += 1
        if self.files > MOST_FILES:
            message = f"The commit has more than {MOST_FILES} files, so it was not taken"
            raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
        self.size += int(size)
        if mode == LINK:
            if int(size) > LONGEST_TARGET:
                message = f"The link {path!r} holds {int(size)} bytes, and no path has more than {LONGEST_TARGET}"
                raise AttemptError(ExitCode.CONFLICT, "LinksLeadOut", message)
            self._keep(self.links, path, name)
            return
        self.has_attributes = self.has_attributes or posixpath.basename(path) == attributes.NAME
        if int(size) in POINTER_BYTES:
            self._keep(self.likely, path, name)
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
    for entry in listed(repository, commit):
        listing.take(*entry)
    _check_links(repository, listing.links)
    chosen = _of_lfs(repository, commit, listing.small) if lfs and listing.has_attributes else {}
    texts = contents_of(repository, [*chosen.values(), *listing.likely.values()])
    known = {name: (pointer, len(text)) for name, text in texts if (pointer := pointer_of(text))}
    pointers = {path: known[name][0] for path, name in chosen.items() if name in known}
    own = sum(known[chosen[path]][1] for path in pointers)
    size = listing.size - own + sum(each.size for each in pointers.values())
    bare = [path for path, name in listing.likely.items() if name in known and path not in pointers]
    return Contents(listing.files, size, pointers, bare, listing.submodules)


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

    def link(at: str, name: str) -> str | None:
        found = targets.get(posixpath.join(at, name))
        if found is None and name.lower() == ".git":
            raise LinkError(OUT)
        return found

    try:
        resolved(path, link)
    except LinkError as error:
        return str(error) == OUT
    return False


def _of_lfs(repository: Repository, commit: str, small: Mapping[str, str]) -> dict[str, str]:
    """Return those of `small` that belong to Git LFS by the `.gitattributes` of the commit, by ascending path.

    `small` are names of Git objects by path.
    """
    filters = attributes.read(repository, commit, map(os.fsencode, small), ("filter",))
    return {path: small[path] for path in sorted(os.fsdecode(path) for path, value in filters if value == b"lfs")}


def check(repository: Repository, commit: str, contents: Contents) -> None:
    """Raise AttemptError (exit code 11) if a file is missing after the checkout, or shorter than in the commit.

    Git takes for written what the system calls say. A network file system that runs full may lose it after that. It
    reads no file. Files that attributes convert may have any size; `Checkout.smudge` has seen those of Git LFS.
    """
    root, lost, short = os.fspath(repository.path), list[str](), dict[str, str]()
    pointers = {*contents.pointers, *contents.bare_pointers}
    count = 0
    for mode, _, whole, raw in listed(repository, commit):
        if mode == SUBMODULE:
            continue
        path = os.fsdecode(raw)
        try:
            size = os.lstat(f"{root}/{path}").st_size
        except OSError:
            if len(lost) < SHOWN:
                lost.append(path)
            continue
        count += 1
        if mode.startswith(FILE) and size < int(whole) and path not in pointers:
            short[path] = f"{path!r} ({size} of {int(whole)} bytes)"
    if count != contents.files or lost:
        names = ", ".join(map(repr, lost))
        message = (
            f"{count} of the {contents.files} files of commit {commit[:12]} are there after the checkout: no {names}"
        )
        raise AttemptError(ExitCode.INTEGRITY, "FilesMissing", message)
    if cut := _plain(repository, commit, short):
        names = ", ".join(short[path] for path in cut[:SHOWN])
        message = (
            f"{len(cut)} files are shorter after the checkout than in commit {commit[:12]}: {names}. The claim lost"
            " bytes that Git wrote: is it full? Remove the clone if there is one, so that it is made anew"
        )
        raise AttemptError(ExitCode.INTEGRITY, "FilesMissing", message)


def _plain(repository: Repository, commit: str, paths: Mapping[str, str]) -> list[str]:
    """Return those of the paths that no attribute of the commit gives another size."""
    values = attributes.read(repository, commit, map(os.fsencode, paths), _RESIZING) if paths else ()
    same = (b"unspecified", b"unset", b"lf")
    converted = {os.fsdecode(path) for path, value in values if value not in same}
    return [path for path in paths if path not in converted]
