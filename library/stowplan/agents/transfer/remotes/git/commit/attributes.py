"""Attributes that commits give to their files: gitattributes(5)."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from tempfile import TemporaryFile

from stowplan.agents.transfer.remotes.git.commit.listing import FILE, listed
from stowplan.agents.transfer.remotes.git.repository import Repository

NAME = ".gitattributes"
"""Name of the files that give attributes to the files around and below them."""

_CONVERTING = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
"""Attributes that decide what a checkout writes for the content of a commit."""


def read(
    repository: Repository, commit: str, paths: Iterable[bytes], attributes: Sequence[str]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield (path, value) for each path, and for each of the attributes in their order.

    Paths are relative to the repository. A value is as git-check-attr(1) writes it, such as `set` or `unspecified`.
    """
    git = repository.git
    place = replace(repository.place, variables={"GIT_INDEX_FILE": str(git.folder / "index")})
    git.offline(place, "read-tree", commit)
    feed = b"".join(path + b"\0" for path in paths)
    fields = git.records(place, "check-attr", "--cached", "-z", "--stdin", *attributes, feed=feed)
    for path, _, value in zip(fields, fields, fields, strict=True):
        yield path, value


def converted_otherwise(repository: Repository, before: str, commit: str) -> set[str]:
    """Return the paths in `commit` whose files its checkout converts in another way than one of the commit `before`."""
    paths = [path for mode, _, _, path in listed(repository, commit) if mode.startswith(FILE)]
    # The values of a million files would fill the memory.
    with TemporaryFile(dir=repository.git.folder) as earlier:
        earlier.writelines(value + b"\n" for _, value in read(repository, before, paths, _CONVERTING))
        earlier.seek(0)
        now = read(repository, commit, paths, _CONVERTING)
        return {os.fsdecode(path) for path, value in now if earlier.readline() != value + b"\n"}
