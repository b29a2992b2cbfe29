"""Listing of the objects below a prefix. Keys are exactly those of the server, even if they contain `//` or `..`."""

from collections.abc import Iterator
from urllib.parse import unquote_plus

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.protocol.answers import Document, bad, document
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Wire
from stowplan.schema.agents.exit_codes import ExitCode

MOST_EMPTY = 1000
"""Maximum number of consecutive pages without a new key. Stores send such pages after many deletions."""


def objects(wire: Wire, prefix: str, *, most: int = 1000) -> Iterator[S3Object]:
    """Yield all objects below a prefix, in ascending order of keys. Their keys are relative to the prefix.

    An object whose key equals the prefix is left out: it stands for the folder of the transfer. `most` is the maximum
    number of objects in one answer. Raises AttemptError if the server breaks the order: callers depend on it.
    """
    token, last, empty = "", "", 0
    while True:
        before = last
        entries, token = page(wire, prefix, token, most)
        for entry in entries:
            if not entry.key:
                continue
            if entry.key <= last:
                message = f"The server lists {entry.key!r} after {last!r}: listings must be in ascending order of keys"
                raise AttemptError(ExitCode.CONFLICT, "UnsortedListing", message)
            last = entry.key
            yield entry
        empty = empty + 1 if last == before else 0
        if empty > MOST_EMPTY:
            message = f"The server sent {empty} pages of a listing without a key"
            raise AttemptError(ExitCode.TRANSIENT, "BadListing", message)
        if not token:
            return


def page(wire: Wire, prefix: str, token: str, most: int) -> tuple[list[S3Object], str]:
    """Return the objects of one page of the listing, and the token of the next page; it is empty after the last page.

    `token` is that of the page, empty for the first one. `most` is the maximum number of objects in the page.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
    """
    query = [("list-type", "2"), ("encoding-type", "url"), ("max-keys", str(most)), ("prefix", prefix)]
    response = wire.call("GET", query=[*query, ("continuation-token", token)] if token else query)
    found = document(response.content, "a listing", "ListBucketResult")
    if found.text("Name") not in ("", wire.bucket.name):
        raise bad(f"a listing of the bucket {found.text('Name')[:64]!r} instead of {wire.bucket.name}")
    # Servers that do not know `encoding-type` do not repeat it.
    coded = found.text("EncodingType") == "url"
    entries = [_entry(each, prefix, coded=coded) for each in found.all("Contents")]
    if not found.flag("IsTruncated"):
        return entries, ""
    following = found.text("NextContinuationToken")
    if not following or following == token:
        raise AttemptError(
            ExitCode.TRANSIENT, "BadListing", "The server ends a listing in the middle, without a token for the rest"
        )
    return entries, following


def _entry(found: Document, prefix: str, *, coded: bool) -> S3Object:
    key = found.text("Key")
    whole = unquote_plus(key) if coded else key
    if not whole.startswith(prefix):
        raise bad(f"a listing below {prefix!r} with the key {whole[:100]!r}")
    return S3Object(
        key=whole[len(prefix) :],
        size=found.number("Size"),
        etag=found.etag(),
        modified=int(found.moment("LastModified").timestamp()),
    )
