"""Listing of the objects below a prefix. Keys are exactly those of the server, even if they contain `//` or `..`."""

from collections.abc import Iterator

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.lists.pages import Pages
from stowplan.agents.transfer.remotes.s3.protocol.lists.sorting import ascending
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.schema.agents.exit_codes import ExitCode

MOST_EMPTY = 1000
"""Maximum number of consecutive pages without a key. Stores send such pages after many deletions."""


class UnsortedError(Exception):
    """The store lists keys in another order than the ascending one. The message names two keys."""


def objects(client: RestClient, prefix: str, *, most: int = 1000) -> Iterator[S3Object]:
    """Yield all objects below a prefix, in ascending order of keys. Their keys are relative to the prefix.

    An object whose key equals the prefix is left out: it stands for the folder of the transfer. `most` is the maximum
    number of objects in one answer. Raises UnsortedError if the store has another order; then `sorted_objects` is for
    it. Raises AttemptError if the store lists a key twice.
    """
    return _checked(_listed(client, prefix, most))


def sorted_objects(client: RestClient, prefix: str) -> Iterator[S3Object]:
    """Yield the same as `objects`, whatever the order of the store. It lists all objects before it yields the first."""
    return _checked(ascending(_listed(client, prefix, 1000)))


def present(client: RestClient, prefix: str) -> Iterator[S3Object]:
    """Yield objects below a prefix in ascending order of keys, and leave out some if the store has another order."""
    last = ""
    try:
        for entry in objects(client, prefix):
            last = entry.key
            yield entry
    except UnsortedError:
        yield from (entry for entry in sorted_objects(client, prefix) if entry.key > last)


def has_objects(client: RestClient, prefix: str) -> bool:
    """Return whether the first page of the objects whose keys begin with a prefix has one."""
    return bool(next(iter(Pages(client, prefix, 1))))


def _listed(client: RestClient, prefix: str, most: int) -> Iterator[S3Object]:
    empty = 0
    for entries in Pages(client, prefix, most):
        named = [each for each in entries if each.key]
        yield from named
        empty = 0 if named else empty + 1
        if empty > MOST_EMPTY:
            message = f"The server sent {empty} pages of a listing without a key"
            raise AttemptError(ExitCode.TRANSIENT, "BadListing", message)


def _checked(entries: Iterator[S3Object]) -> Iterator[S3Object]:
    last = ""
    for entry in entries:
        if entry.key == last:
            message = f"The store lists {last[:200]!r} twice: its list changes meanwhile, or the store repeats pages"
            raise AttemptError(ExitCode.TRANSIENT, "BadListing", message)
        if entry.key < last:
            raise UnsortedError(f"{entry.key[:200]!r} after {last[:200]!r}")
        last = entry.key
        yield entry
