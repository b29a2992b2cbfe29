"""Attributes that commits give to their files: gitattributes(5)."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from tempfile import TemporaryFile

from stowplan.agents.transfer.remotes.git.commit.listing import FILE, Records, listed
from stowplan.agents.transfer.remotes.git.repository import Repository

NAME = ".gitattributes"
"""Name of the files that give attributes to the files around and below them."""

_CONVERTING = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
"""Attributes that decide what a checkout writes for the content of a commit."""


def read(
    repository: Repository,
    commit: str,
    paths: Iterable[bytes],
    attributes: Sequence[str],
    take: Callable[[bytes, bytes], None],
) -> None:
    """Pass (path, value) to `take` for each path, and for each of the attributes in their order."""
    git = repository.git
    place = replace(repository.place, variables={"GIT_INDEX_FILE": str(git.folder / "index")})
    git.offline(place, "read-tree", commit)
    fields: list[bytes] = []

    def field(record: bytes) -> None:
        """Collect three fields: path, attribute, value."""
        fields.append(record)
        if len(fields) == 3:
            take(fields[0], fields[2])
            fields.clear()

    feed = b"".join(path + b"\0" for path in paths)
    git.streamed(place, "check-attr", "--cached", "-z", "--stdin", *attributes, take=Records(field).take, feed=feed)


def converted_otherwise(repository: Repository, before: str, commit: str) -> set[str]:
    """Return the files of `commit` which a checkout converts in another way than one of the commit `before` does."""
    paths: list[bytes] = []

    def file(record: bytes) -> None:
        fields, _, path = record.partition(b"\t")
        if fields.startswith(FILE):
            paths.append(path)

    listed(repository, commit, file)
    found: set[str] = set()
    # The values of a million files would fill the memory.
    with TemporaryFile(dir=repository.git.folder) as earlier:

        def compare(path: bytes, value: bytes) -> None:
            if earlier.readline() != value + b"\n":
                found.add(os.fsdecode(path))

        def keep(_: bytes, value: bytes) -> None:
            earlier.write(value + b"\n")

        read(repository, before, paths, _CONVERTING, keep)
        earlier.seek(0)
        read(repository, commit, paths, _CONVERTING, compare)
    return found
