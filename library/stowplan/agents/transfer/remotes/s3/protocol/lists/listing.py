"""Listing of the objects below a prefix, by pages of the second version of S3's protocol or of the first one.

Keys are exactly those of the server, even if they contain `//` or `..`.

https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, and API_ListObjects.html beside it.
"""

import re
from collections.abc import Iterator, Mapping

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.protocol.answers import Document, bad, document
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object, archive_of
from stowplan.agents.transfer.remotes.s3.protocol.lists.key_encoding import KeyEncoding
from stowplan.agents.transfer.remotes.s3.protocol.lists.sorting import ascending
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.schema.agents.exit_codes import ExitCode

_RESTORED = {"x-amz-optional-object-attributes": "RestoreStatus"}
_UNKNOWN_VERSION = ("InvalidArgument", "NotImplemented")
"""Reasons of failures by which a store says that it does not know the second version."""

_PROBE = 100
"""Maximum number of objects in a list that only tells how keys are encoded."""

_KEY = re.compile(r"<Key>([^<]*)</Key>")
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_NO_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 may hold: control characters and bytes that are no UTF-8."""


class Pages:
    """Pages of the objects below a prefix, with at most `most` objects each. Iterate once.

    Keys are relative to the prefix: that of an object with the prefix as its key is empty. A page may have no object.
    A store that does not know the second version of the list, as Huawei OBS and Baidu BOS, is asked by the first one.
    """

    def __init__(self, client: RestClient, prefix: str, most: int) -> None:
        self._client, self._prefix, self._most = client, prefix, most
        self._is_first_version = False
        self._headers: Mapping[str, str] = {}
        self._may_ask_status = True
        self._encoding = KeyEncoding(prefix, self._texts)

    def __iter__(self) -> Iterator[list[S3Object]]:
        following = ""
        while True:
            before = following
            entries, following = self._page(following)
            yield entries
            if not following:
                return
            if following == before:
                message = "The store does not go on in a listing: a page names itself as the next one"
                raise AttemptError(ExitCode.CONFLICT, "BadListing", message)

    def _page(self, following: str) -> tuple[list[S3Object], str]:
        """Return the objects of a page, and the token or marker of the next page; it is empty after the last page."""
        found = self._asked(following)
        if self._may_ask_status and any(archive_of(each.text("StorageClass")) for each in found.all("Contents")):
            # Only where there are archives: not all stores take the header.
            found = self._with_status(following) or found
        contents, said = found.all("Contents"), found.text("EncodingType") == "url"
        keys = self._encoding.decoded((each.text("Key") for each in contents), said=said)
        entries = [self._entry(key, each) for key, each in zip(keys, contents, strict=True)]
        if not found.flag("IsTruncated"):
            return entries, ""
        if token := found.text("NextContinuationToken"):
            return entries, token
        self._is_first_version = True
        marker = self._marker(found, contents, keys)
        if not marker:
            message = "The store ends a listing in the middle, with neither a token nor a key from which to go on"
            raise AttemptError(ExitCode.CONFLICT, "BadListing", message)
        return entries, marker

    def _marker(self, found: Document, contents: list[Document], keys: list[str]) -> str:
        text = found.text("NextMarker")
        if not text or (contents and text == contents[-1].text("Key")):
            return keys[-1] if keys else ""
        return self._encoding.decoded([text], said=found.text("EncodingType") == "url")[0]

    def _asked(self, following: str) -> Document:
        try:
            return self._answer(self._prefix, following, self._most)
        except AttemptError as failure:
            if self._is_first_version or following or failure.reason not in _UNKNOWN_VERSION:
                raise
        self._is_first_version = True
        return self._answer(self._prefix, following, self._most)

    def _with_status(self, following: str) -> Document | None:
        """Return a page on which objects of archives say whether they are restored; None if the store refuses that."""
        self._headers, self._may_ask_status = _RESTORED, False
        try:
            return self._answer(self._prefix, following, self._most)
        except AttemptError as failure:
            if failure.code is not ExitCode.BAD_SPEC:
                raise
        self._headers = {}
        return None

    def _answer(self, prefix: str, following: str, most: int) -> Document:
        query = [("encoding-type", "url"), ("max-keys", str(most)), ("prefix", prefix)]
        query += [] if self._is_first_version else [("list-type", "2")]
        name = "marker" if self._is_first_version else "continuation-token"
        query += [(name, following)] if following else []
        response = self._client.call("GET", query=query, headers=self._headers)
        try:
            found = document(response.content, "a listing", "ListBucketResult")
        except AttemptError:
            _refuse_key(response.content)
            raise
        # Ceph leaves out the tenant of `tenant:bucket`.
        name = self._client.bucket.name
        if found.text("Name") not in ("", name, name.rpartition(":")[2]):
            raise bad(f"a listing of the bucket {found.text('Name')[:64]!r} instead of {name}")
        return found

    def _texts(self, beginning: str) -> list[str] | None:
        """Return keys that begin with a string, as the store writes them; None if the account may not list them."""
        try:
            return [each.text("Key") for each in self._answer(beginning, "", _PROBE).all("Contents")]
        except AttemptError as failure:
            if failure.code is not ExitCode.AUTH:
                raise
        return None

    def _entry(self, key: str, found: Document) -> S3Object:
        if not key.startswith(self._prefix):
            raise bad(f"a listing below {self._prefix!r} with the key {key[:100]!r}")
        restored = any(
            each.text("IsRestoreInProgress") == "false" and each.text("RestoreExpiryDate")
            for each in found.all("RestoreStatus")
        )
        return S3Object(
            key=key[len(self._prefix) :],
            size=found.number("Size"),
            etag=found.etag(),
            modified=int(found.moment("LastModified").timestamp()),
            archive="" if restored else archive_of(found.text("StorageClass")),
        )


def _refuse_key(content: bytes) -> None:
    """Raise AttemptError if a page cannot be read because of a key: it will not pass, and cannot be a file."""
    for found in _KEY.finditer(content.decode(errors="surrogateescape")):
        key = _REFERENCE.sub(lambda each: chr(min(int(each[1] or each[2], 16 if each[1] else 10), 0x10FFFF)), found[1])
        if _NO_CHARACTER.search(key):
            message = (
                f"The store lists the key {key[:200]!r} as it is, with characters that neither XML nor the name of a"
                " file can hold, so the list cannot be read: rename the object, or name a prefix without it"
            )
            raise AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)


MOST_EMPTY = 1000
"""Maximum number of consecutive pages without a key. Stores send such pages after many deletions."""


class UnsortedError(Exception):
    """The store lists keys in another order than the ascending one. The message names two keys."""


def objects(client: RestClient, prefix: str) -> Iterator[S3Object]:
    """Yield all objects below a prefix, in ascending order of keys. Their keys are relative to the prefix.

    An object whose key equals the prefix is left out: it stands for the folder of the transfer. Raises UnsortedError if
    the store has another order; then `sorted_objects` is for it. Raises AttemptError if the store lists a key twice.
    """
    return _checked(_listed(client, prefix))


def sorted_objects(client: RestClient, prefix: str) -> Iterator[S3Object]:
    """Yield the same as `objects`, whatever the order of the store. It lists all objects before it yields the first."""
    return _checked(ascending(_listed(client, prefix)))


def present(client: RestClient, prefix: str) -> Iterator[S3Object]:
    """Yield what `objects` does, but of a store with another order leave out some objects rather than raise."""
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


def _listed(client: RestClient, prefix: str) -> Iterator[S3Object]:
    empty = 0
    for entries in Pages(client, prefix, 1000):
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
