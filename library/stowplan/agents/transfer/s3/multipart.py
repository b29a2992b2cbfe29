"""The steps of an upload in parts, and what is left of earlier ones.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote_plus
from xml.sax.saxutils import escape

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.s3.listing import document, namespace
from stowplan.agents.transfer.s3.wire import Body, Wire
from stowplan.schema.exit_codes import ExitCode

_XML = {"content-type": "application/xml"}

ORPHAN_AGE = timedelta(hours=24)
"""Uploads that were begun longer ago, and that this run has no use for, are aborted."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An upload that was begun and neither completed nor aborted."""

    key: str
    id: str
    at: datetime

    @property
    def is_orphan(self) -> bool:
        return datetime.now(UTC) - self.at > ORPHAN_AGE


@dataclass(frozen=True, slots=True)
class Stored:
    """A part that the server has."""

    size: int
    etag: str


def begin(wire: Wire, key: str) -> str:
    """Begins an upload; gives its id."""
    root = document(wire.call("POST", key, [("uploads", "")]).content, "the beginning of an upload")
    found = root.findtext(f"{namespace(root)}UploadId")
    if not found:
        raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The server began an upload of {key} without an id")
    return found


def send(wire: Wire, key: str, upload: str, number: int, data: bytes | Body) -> Stored:
    """Sends one part, counted from 1. Its signature holds the digest of the data, which the server compares."""
    response = wire.call("PUT", key, [("partNumber", str(number)), ("uploadId", upload)], data)
    size = len(data) if isinstance(data, bytes) else data.size
    return Stored(size, response.headers.get("etag", ""))


def complete(wire: Wire, key: str, upload: str, parts: Mapping[int, Stored], size: int) -> None:
    """Makes the object of its parts. An answer that was lost, so that the second try finds no upload, is no failure."""
    listed = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(part.etag)}</ETag></Part>"
        for number, part in sorted(parts.items())
    )
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    response = wire.call("POST", key, [("uploadId", upload)], body, headers=_XML, accepted=(404,))
    if response.status_code == 404:
        there = wire.call("HEAD", key, accepted=(404,))
        if not there.is_success or int(there.headers.get("content-length", -1)) != size:
            raise AttemptError(ExitCode.TRANSIENT, "UploadGone", f"The upload of {key} was ended by somebody else")
        return
    root = document(response.content, "the end of an upload")
    # The status may be 200 and the body an error: servers send the first before they know.
    if root.tag.endswith("Error"):
        message = f"{key}: {root.findtext('Code')} {root.findtext('Message')}"
        raise AttemptError(ExitCode.TRANSIENT, "UploadFailed", message)


def abort(wire: Wire, begun: Begun) -> None:
    """Ends an upload and frees its parts."""
    wire.call("DELETE", begun.key, [("uploadId", begun.id)], accepted=(404,))


def begun(wire: Wire, prefix: str) -> Iterator[Begun]:
    """Uploads below a prefix."""
    key_marker, id_marker = "", ""
    while True:
        query = [("uploads", ""), ("prefix", prefix), ("encoding-type", "url")]
        if key_marker:
            query += [("key-marker", key_marker), ("upload-id-marker", id_marker)]
        root = document(wire.call("GET", query=query).content, "a list of uploads")
        space = namespace(root)
        coded = root.findtext(f"{space}EncodingType") == "url"
        for each in root.iter(f"{space}Upload"):
            key = each.findtext(f"{space}Key") or ""
            at = datetime.fromisoformat(each.findtext(f"{space}Initiated") or "")
            yield Begun(unquote_plus(key) if coded else key, each.findtext(f"{space}UploadId") or "", at)
        following = root.findtext(f"{space}NextKeyMarker") or ""
        if root.findtext(f"{space}IsTruncated") != "true" or not following:
            return
        key_marker = unquote_plus(following) if coded else following
        id_marker = root.findtext(f"{space}NextUploadIdMarker") or ""


def stored(wire: Wire, key: str, upload: str) -> dict[int, Stored]:
    """The parts that the server has of an upload, by number; none if it is gone."""
    found: dict[int, Stored] = {}
    marker = "0"
    while True:
        response = wire.call("GET", key, [("uploadId", upload), ("part-number-marker", marker)], accepted=(404,))
        if response.status_code == 404:
            return {}
        root = document(response.content, "a list of parts")
        space = namespace(root)
        for each in root.iter(f"{space}Part"):
            number = int(each.findtext(f"{space}PartNumber") or 0)
            found[number] = Stored(int(each.findtext(f"{space}Size") or 0), each.findtext(f"{space}ETag") or "")
        following = root.findtext(f"{space}NextPartNumberMarker") or ""
        if root.findtext(f"{space}IsTruncated") != "true" or following in ("", marker):
            return found
        marker = following
