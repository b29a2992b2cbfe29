"""Tree of a commit as a stream of entries, and content of small Git objects.

A malicious tree of a few kilobytes can stand for 10^10 files, so no listing is held in memory.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode

FILE, LINK, SUBMODULE = b"100", b"120000", b"160000"
"""Modes in a tree: the first digits of those of a file, and those of a link and a submodule."""

_AT_ONCE = 4096
"""Objects per call of `git cat-file`: 16 MiB of links at most."""


def listed(repository: Repository, commit: str) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    """Yield (mode, name, size, path) of each file, link and submodule in a commit's tree, also in its folders.

    All are bytes, as `git ls-tree -l` writes them. The name is that of the Git object. The size is `-` for a submodule,
    and `BAD` if the object is missing.
    """
    for record in repository.git.records(repository.place, "ls-tree", "-r", "-l", "-z", "--full-tree", commit):
        fields, _, path = record.partition(b"\t")
        mode, _, name, size = fields.split()
        yield mode, name, size, path


def contents_of(repository: Repository, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the small Git objects `names`, each once. Raises AttemptError (11) if one is missing."""
    wanted = iter(dict.fromkeys(names))
    while batch := list(islice(wanted, _AT_ONCE)):
        feed = "".join(f"{name}\n" for name in batch).encode()
        output = repository.git.offline(repository.place, "cat-file", "--batch", feed=feed)
        at = 0
        for name in batch:
            end = output.index(b"\n", at)
            fields = output[at:end].split()
            if len(fields) < 3:
                raise missing(name)
            size = int(fields[2])
            yield name, output[end + 1 : end + 1 + size]
            at = end + size + 2


def missing(name: str) -> AttemptError:
    """Return the failure for a Git object that the clone does not have."""
    message = (
        f"Object {name} of the clone in the claim is missing or damaged: remove the clone, so that it is made anew"
    )
    return AttemptError(ExitCode.INTEGRITY, "Corrupt", message)
