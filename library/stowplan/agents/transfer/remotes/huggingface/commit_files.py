"""Files of a claim as parts of commits to a Hub."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from huggingface_hub import CommitOperationAdd

from stowplan.agents.transfer.tree import Found, Tree, blocks

SMALL = 10 << 20
"""Size in bytes from which on the Hub never stores a file in Git itself.

Smaller files are read into memory, and stay there until they are uploaded or committed.
"""

MOST = 256
"""Maximum number of files in one request to the Hub. All files of a request are open at the same time."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """File of the claim, and its path in the repository."""

    found: Found
    path: str


def batches(files: Sequence[Outgoing], held: int) -> Iterator[list[Outgoing]]:
    """Yield the files in order, in lists of at most `MOST` files.

    The files smaller than `SMALL` in one list have at most `held` bytes together, unless a single file has more.
    """
    batch: list[Outgoing] = []
    small = 0
    for each in files:
        size = each.found.size if each.found.size < SMALL else 0
        if batch and (len(batch) == MOST or small + size > held):
            yield batch
            batch, small = [], 0
        batch.append(each)
        small += size
    if batch:
        yield batch


@contextmanager
def opened(tree: Tree, batch: Sequence[Outgoing]) -> Iterator[list[CommitOperationAdd]]:
    """Open the files and yield them as operations of huggingface_hub, in the same order.

    Raises AttemptError if a file has changed since it was listed, at the beginning or at the end of the block. Large
    files are passed as names of open descriptors, so that nobody can replace them by links.
    """
    with ExitStack() as stack:
        descriptors = []
        for each in batch:
            descriptors.append(tree.reader(each.found.real))
            stack.callback(os.close, descriptors[-1])
        files = list(zip(batch, descriptors, strict=True))
        for each, descriptor in files:
            each.found.check_unchanged(descriptor)
        yield [_operation(each, descriptor) for each, descriptor in files]
        for each, descriptor in files:
            each.found.check_unchanged(descriptor)


def _operation(file: Outgoing, descriptor: int) -> CommitOperationAdd:
    if file.found.size >= SMALL:
        return CommitOperationAdd(path_in_repo=file.path, path_or_fileobj=f"/proc/self/fd/{descriptor}")
    data = b"".join(blocks(descriptor, lambda: None, 0, file.found.size))
    return CommitOperationAdd(path_in_repo=file.path, path_or_fileobj=data)
