"""Files of a commit in the work tree: whether each is there, and none is shorter than the commit says.

Git takes for written what the system calls say. A network file system that runs full may lose it after that.
"""

import os

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.commit import attributes
from stowplan.agents.transfer.remotes.git.commit.contents import Contents
from stowplan.agents.transfer.remotes.git.commit.listing import FILE, SHOWN, SUBMODULE, listed
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode

_RESIZING = ("eol", "filter", "ident", "working-tree-encoding")
"""Attributes by which a checkout writes another number of bytes. `text` alone changes nothing on Linux."""


def check(repository: Repository, commit: str, contents: Contents) -> None:
    """Raise AttemptError (exit code 11) if a file is missing after the checkout, or shorter than in the commit.

    It reads no file. Files that attributes convert may have any size; `Checkout.smudge` has seen those of Git LFS.
    """
    root, missing, short = os.fspath(repository.path), list[str](), dict[str, str]()
    pointers = {*contents.pointers, *contents.bare_pointers}
    count = 0

    def take(record: bytes) -> None:
        nonlocal count
        fields, _, raw = record.partition(b"\t")
        if fields.startswith(SUBMODULE):
            return
        path = os.fsdecode(raw)
        try:
            size = os.lstat(f"{root}/{path}").st_size
        except OSError:
            if len(missing) < SHOWN:
                missing.append(path)
            return
        count += 1
        if fields.startswith(FILE) and size < (whole := int(fields.rpartition(b" ")[2])) and path not in pointers:
            short[path] = f"{path!r} ({size} of {whole} bytes)"

    listed(repository, commit, take)
    if count != contents.files or missing:
        names = ", ".join(map(repr, missing))
        message = (
            f"{count} of the {contents.files} files of commit {commit[:12]} are there after the checkout: no {names}"
        )
        raise AttemptError(ExitCode.INTEGRITY, "FilesMissing", message)
    if lost := _plain(repository, commit, short):
        names = ", ".join(short[path] for path in lost[:SHOWN])
        message = (
            f"{len(lost)} files are shorter after the checkout than in commit {commit[:12]}: {names}. The claim lost"
            " bytes that Git wrote: is it full? Remove the clone if there is one, so that it is made anew"
        )
        raise AttemptError(ExitCode.INTEGRITY, "FilesMissing", message)


def _plain(repository: Repository, commit: str, paths: dict[str, str]) -> list[str]:
    """Return those of the paths that no attribute of the commit gives another size."""
    converted: set[str] = set()

    def take(path: bytes, value: bytes) -> None:
        if value not in (b"unspecified", b"unset", b"lf"):
            converted.add(os.fsdecode(path))

    if paths:
        attributes.read(repository, commit, map(os.fsencode, paths), _RESIZING, take)
    return [path for path in paths if path not in converted]
