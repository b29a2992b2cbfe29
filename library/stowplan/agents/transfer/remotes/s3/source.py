"""Look-up of what the URI of a source means: one object, or all objects below a prefix."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.patterns import EVERYTHING, Patterns
from stowplan.agents.transfer.remotes.s3.protocol.answers import etag, http_date, number
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object, archive_of_headers
from stowplan.agents.transfer.remotes.s3.protocol.lists.listing import has_objects, objects, sorted_objects
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.remotes.s3_listing import ListingHash

Kind = Literal["auto", "file", "prefix"]


@dataclass(frozen=True, slots=True)
class ObjectSource:
    """Objects to fetch. An object's full key is `prefix` plus the entry's key."""

    prefix: str
    single: S3Object | None = None
    """The only object to fetch; None to fetch all objects below `prefix`."""
    patterns: Patterns = EVERYTHING
    """Patterns of the keys below `prefix` to fetch. They do not concern a single object."""
    must_sort: bool = False
    """True if the store lists keys in another order than the ascending one."""

    def entries(self, client: RestClient, listing: ListingHash) -> Iterator[S3Object]:
        """Yield the objects to fetch in ascending order of keys, which are relative to `prefix`.

        All listed objects, also those that are not fetched, are added to `listing`. Raises UnsortedError if the store
        lists keys in another order and `must_sort` is false.
        """
        listed = sorted_objects if self.must_sort else objects
        for each in [self.single] if self.single else listed(client, self.prefix):
            listing.add(each.key, each.size, each.etag)
            if self.takes(each.key):
                yield each

    def takes(self, key: str) -> bool:
        """Return whether an object with this key, relative to `prefix`, is one to fetch."""
        return key == self.single.key if self.single else self.patterns.take(key)


def resolve(client: RestClient, key: str, kind: Kind, patterns: Patterns = EVERYTHING) -> ObjectSource:
    """Return the source that a key of the URI means: the object with this key, or the objects below the key and `/`.

    The slash is always added to a prefix, so the key `data` never includes `data2/…`. An empty key, or one that ends in
    `/`, is always a prefix. Otherwise `kind` decides; `auto` asks the server which of the two exists. `patterns` select
    objects below a prefix. Raises AttemptError: 4 if neither exists, 5 if both exist and `kind` is `auto`.
    """
    prefix = ObjectSource(key if not key or key.endswith("/") else f"{key}/", patterns=patterns)
    if prefix.prefix == key or kind == "prefix":
        return prefix
    where = f"s3://{client.bucket.name}/{key}"
    single, status = head(client, key)
    if kind == "file":
        if single is None:
            raise _missing(f"{where} is no object", status)
        return _one(key, single)
    below = has_objects(client, prefix.prefix)
    if single and below:
        message = f"{where} is an object, and there are objects below {where}/: say which is meant by kind"
        raise AttemptError(ExitCode.CONFLICT, "Ambiguous", message)
    if single:
        return _one(key, single)
    if below:
        return prefix
    raise _missing(f"There is no object {where} and none below {where}/", status)


def head(client: RestClient, key: str) -> tuple[S3Object | None, int]:
    """Return the object with a full key, and the HTTP status of the answer; the object is None if it does not exist.

    If the account may not list the bucket, S3 answers with 403 instead of 404 for a missing object.
    """
    response = client.call("HEAD", key, accepted=(403, 404))
    if not response.is_success:
        return None, response.status_code
    headers = response.headers
    what = f"an object {key} whose"
    size = number(headers.get("content-length", ""), f"{what} length")
    modified = http_date(headers.get("last-modified", ""), f"{what} time")
    found = S3Object(key, size, etag(headers.get("etag", ""), "an object"), modified, archive_of_headers(headers))
    return found, response.status_code


def _one(key: str, found: S3Object) -> ObjectSource:
    folder, _, name = key.rpartition("/")
    return ObjectSource(f"{folder}/" if folder else "", replace(found, key=name))


def _missing(text: str, status: int) -> AttemptError:
    hint = " (or the account may not see it: the server answered 403)" if status == 403 else ""
    return AttemptError(ExitCode.NOT_FOUND, "NotFound", text + hint)
