"""Lists the objects below a prefix, page by page, with the very keys that the server has.

obstore's own listing cannot be used for this: it takes away the `/` at the end of a key, and ends at the first key
that is no path for it.
"""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import unquote_plus
from xml.etree import ElementTree

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.s3.entry import Entry
from stowplan.agents.transfer.s3.wire import Wire
from stowplan.schema.exit_codes import ExitCode


def objects(wire: Wire, prefix: str, *, most: int = 1000) -> Iterator[Entry]:
    """All objects below a prefix, in ascending order of their keys, which are relative to it.

    An object whose key is the prefix itself, the folder that the transfer begins in, is left out. AttemptError if the
    server does not keep the order: everything else is built on it.
    """
    token, last = "", ""
    while True:
        entries, token = page(wire, prefix, token, most)
        for entry in entries:
            if not entry.key:
                continue
            if entry.key <= last:
                message = f"The server lists {entry.key!r} after {last!r}: listings must be in ascending order of keys"
                raise AttemptError(ExitCode.CONFLICT, "UnsortedListing", message)
            last = entry.key
            yield entry
        if not token:
            return


def page(wire: Wire, prefix: str, token: str, most: int) -> tuple[list[Entry], str]:
    """One page and the token of the next one, empty after the last.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
    """
    query = [("list-type", "2"), ("encoding-type", "url"), ("max-keys", str(most)), ("prefix", prefix)]
    response = wire.call("GET", query=[*query, ("continuation-token", token)] if token else query)
    root = document(response.content, "a listing")
    # Servers that do not know `encoding-type` do not repeat it.
    coded = root.findtext(f"{namespace(root)}EncodingType") == "url"
    entries = [
        _entry(each, namespace(root), len(prefix), coded=coded) for each in root.iter(f"{namespace(root)}Contents")
    ]
    more = root.findtext(f"{namespace(root)}IsTruncated") == "true"
    following = root.findtext(f"{namespace(root)}NextContinuationToken") or ""
    if more and not following:
        raise AttemptError(
            ExitCode.TRANSIENT, "BadListing", "The server ends a listing in the middle, without a token for the rest"
        )
    return entries, following if more else ""


def document(content: bytes, what: str) -> ElementTree.Element:
    """The answer as XML; AttemptError if it is none."""
    try:
        return ElementTree.fromstring(content)  # noqa: S314 - expat bounds what entities may grow to
    except ElementTree.ParseError as error:
        message = f"The server sent {what} that is no XML: {error}"
        raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", message) from None


def namespace(root: ElementTree.Element) -> str:
    """What stands before the names of all elements: `{http://s3.amazonaws.com/doc/2006-03-01/}` or nothing."""
    return root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""


def _entry(found: ElementTree.Element, space: str, cut: int, *, coded: bool) -> Entry:
    key = found.findtext(f"{space}Key") or ""
    modified = datetime.fromisoformat(found.findtext(f"{space}LastModified") or "")
    return Entry(
        key=(unquote_plus(key) if coded else key)[cut:],
        size=int(found.findtext(f"{space}Size") or 0),
        etag=found.findtext(f"{space}ETag") or "",
        modified=int(modified.timestamp()),
    )
