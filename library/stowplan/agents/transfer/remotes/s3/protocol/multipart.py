"""Steps of a multipart upload, and unfinished uploads of earlier attempts.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote_plus
from xml.sax.saxutils import escape

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.checksum import joined
from stowplan.agents.transfer.remotes.s3.protocol.answers import bad, document, etag, number
from stowplan.agents.transfer.remotes.s3.protocol.keeper import (
    ALGORITHM,
    FULL_OBJECT,
    HEADER,
    Keeper,
    check_kept,
    text_of,
)
from stowplan.agents.transfer.remotes.s3.protocol.proof import MOST_PARTS
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Body, Request, RestClient, Text
from stowplan.schema.agents.exit_codes import ExitCode

_XML = {"content-type": "application/xml"}
_KEPT = ("algorithm", "type")
_ELEMENT = f"Checksum{ALGORITHM.upper()}"

COMPLETE_SECONDS = 600.0
"""Seconds in which the server must answer the request that completes an upload.

Stores need minutes for a large object, and send blanks meanwhile:
https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html.
"""

MOST_PAGES = 100
"""Maximum number of pages that are read of a list of unfinished uploads, with 1000 uploads each."""

ORPHAN_AGE = timedelta(hours=24)
"""Age from which on an unfinished upload that this attempt does not continue is aborted."""


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """Multipart upload that was neither completed nor aborted."""

    key: str
    """Full key in the bucket."""
    id: str
    at: datetime
    """Time at which the upload began."""

    @property
    def is_orphan(self) -> bool:
        """True if the upload is older than `ORPHAN_AGE`."""
        return datetime.now(UTC) - self.at > ORPHAN_AGE


@dataclass(frozen=True, slots=True)
class Stored:
    """Part of a multipart upload that the server has."""

    size: int
    etag: str
    checksum: bytes = b""
    """Checksum of its bytes, by `keeper.ALGORITHM`; empty if it is not known."""


@dataclass(frozen=True, slots=True)
class Ongoing:
    """Multipart upload to which parts are sent."""

    key: str
    """Full key in the bucket."""
    id: str
    keeps: bool
    """True if the server keeps a checksum of the object."""


def begin(keeper: Keeper, key: str) -> Ongoing:
    """Start a multipart upload of the object with this full key, and return it. Raises AttemptError if refused."""
    response = keeper.call(
        "POST", key, [("uploads", "")], headers={"x-amz-checksum-algorithm": ALGORITHM.upper(), **FULL_OBJECT}
    )
    found = document(response.content, "the beginning of an upload", "InitiateMultipartUploadResult").text("UploadId")
    if not found:
        raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The server began an upload of {key} without an id")
    # Servers that do not know the headers do not repeat them.
    return Ongoing(key, found, _keeps(*(response.headers.get(f"x-amz-checksum-{each}", "") for each in _KEPT)))


def _keeps(algorithm: str, kind: str) -> bool:
    return (algorithm.lower(), kind) == (ALGORITHM, "FULL_OBJECT")


def send(client: RestClient, upload: Ongoing, number: int, data: bytes | Body, checksum: bytes) -> Stored:
    """Send part `number`, counted from 1, of an upload, and return it as the server has it.

    The server compares the data with its digest in the signature. `checksum`, by `keeper.ALGORITHM` and not encoded, is
    sent if the upload keeps one. Raises AttemptError, also if the answer has no ETag, which `complete` needs.
    """
    headers = {HEADER: text_of(checksum)} if upload.keeps else {}
    query = [("partNumber", str(number)), ("uploadId", upload.id)]
    response = client.call("PUT", upload.key, query, data, headers=headers)
    size = len(data) if isinstance(data, bytes) else data.size
    found = etag(response.headers.get("etag", ""), "a part")
    if not found:
        raise bad(f"no ETag for part {number} of {upload.key}")
    return Stored(size, found, checksum)


def complete(client: RestClient, upload: Ongoing, parts: Mapping[int, Stored]) -> None:
    """Complete an upload, so that its parts, at least one, by number from 1, become the object.

    If the server has no such upload, an earlier try may have completed it without its answer being received. Then the
    size of the object is checked. Raises AttemptError if it differs, or if the server cannot complete the upload. Each
    part needs its checksum if `upload.keeps`; `stored` does not give it.
    """
    key, ordered = upload.key, sorted(parts.items())
    listed = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(part.etag)}</ETag>{_element(upload, part)}</Part>"
        for number, part in ordered
    )
    size, checksum = _joined([part for _, part in ordered])
    headers = {HEADER: text_of(checksum), **FULL_OBJECT} if upload.keeps else {}
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    query = [("uploadId", upload.id)]
    response = client.send(Request("POST", key, query, Text(body), _XML | headers, seconds=COMPLETE_SECONDS), (404,))
    if response.status_code == 404:
        there = client.call("HEAD", key, accepted=(404,))
        if not there.is_success or there.headers.get("content-length") != str(size):
            raise AttemptError(ExitCode.TRANSIENT, "UploadGone", f"The upload of {key} was ended by somebody else")
        return
    found = document(response.content, "the end of an upload", "CompleteMultipartUploadResult", "Error")
    # The body may be an error despite status 200: servers send the status before they know the result.
    if found.name == "Error":
        raise AttemptError(ExitCode.TRANSIENT, "UploadFailed", f"{key}: {client.said(response)}")
    if upload.keeps:
        check_kept(key, checksum, found.text(_ELEMENT))


def _element(upload: Ongoing, part: Stored) -> str:
    return f"<{_ELEMENT}>{text_of(part.checksum)}</{_ELEMENT}>" if upload.keeps else ""


def _joined(parts: list[Stored]) -> tuple[int, bytes]:
    """Return the size and the checksum of an object of these parts."""
    size, checksum = parts[0].size, parts[0].checksum
    for each in parts[1:]:
        size, checksum = size + each.size, joined(ALGORITHM, checksum, each.checksum, each.size)
    return size, checksum


def begun(client: RestClient, prefix: str) -> Iterator[UnfinishedUpload]:
    """Yield the unfinished uploads of keys that begin with `prefix`."""
    key_marker, id_marker = "", ""
    for _ in range(MOST_PAGES):
        query = [("uploads", ""), ("prefix", prefix), ("encoding-type", "url")]
        if key_marker:
            query += [("key-marker", key_marker), ("upload-id-marker", id_marker)]
        found = document(client.call("GET", query=query).content, "a list of uploads", "ListMultipartUploadsResult")
        coded = found.text("EncodingType") == "url"
        for each in found.all("Upload"):
            key = each.text("Key")
            yield UnfinishedUpload(
                unquote_plus(key) if coded else key, each.text("UploadId"), _aware(each.moment("Initiated"))
            )
        following = found.text("NextKeyMarker")
        if not found.flag("IsTruncated") or not following:
            return
        key_marker = unquote_plus(following) if coded else following
        id_marker = found.text("NextUploadIdMarker")


def stored(client: RestClient, key: str, upload: str) -> tuple[Ongoing, dict[int, Stored]]:
    """Return an unfinished upload, by full key and id, and the parts that the server has of it, by number from 1.

    There are no parts if the upload does not exist, or if another program began it with checksums of another algorithm,
    which each of its parts must have: then begin another one. Parts without an ETag are left out: an upload cannot be
    completed with them. Raises AttemptError if the server refuses, or if its answer is invalid.
    """
    parts: dict[int, Stored] = {}
    marker, ongoing = 0, Ongoing(key, upload, keeps=False)
    while True:
        response = client.call("GET", key, [("uploadId", upload), ("part-number-marker", str(marker))], accepted=(404,))
        if response.status_code == 404:
            return ongoing, {}
        found = document(response.content, "a list of parts", "ListPartsResult")
        algorithm = found.text("ChecksumAlgorithm")
        ongoing = replace(ongoing, keeps=_keeps(algorithm, found.text("ChecksumType")))
        if algorithm and not ongoing.keeps:
            return ongoing, {}
        for each in found.all("Part"):
            part, size = each.number("PartNumber"), each.number("Size")
            if found_etag := each.etag():
                parts[part] = Stored(size, found_etag)
        if not found.flag("IsTruncated") or not (following := found.text("NextPartNumberMarker")):
            return ongoing, parts
        before, marker = marker, number(following, "a list of parts whose marker")
        if not before < marker <= MOST_PARTS:
            return ongoing, parts


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
