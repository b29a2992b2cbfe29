"""Requests for the checksum of a large object before its download."""

import re
from collections.abc import Mapping

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.checksum import Checksum, Proof, from_headers
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Query, Wire

MOST_PARTS = 10_000
"""Maximum number of parts of one object, by https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html."""

_UNKNOWN = (400, 403, 404, 405, 412, 416, 501)
"""Status codes of servers that know no checksums or parts, or that now have another version of the object."""


def proof_of(wire: Wire, key: str, entry: S3Object, part_size: int, *, parts: bool) -> Proof | None:
    """Return the checksum that the server has of an object; None if it has none that this program can compute.

    `key` is the full key in the bucket. `part_size` is the size in bytes of the parts of the download. `parts` also
    allows the ETag of a multipart upload, which is a slow MD5 of the MD5s of the uploaded parts.
    """
    headers = _head(wire, key, entry, ())
    if headers is None:
        return None
    checksum = from_headers(headers) or _of_etag(entry, headers, parts=parts)
    if checksum is None:
        return None
    if checksum.of_pieces:
        piece = _piece(wire, key, entry)
        return Proof(checksum, entry.size, piece) if piece else None
    # Only CRC-32 sums of parts can be combined.
    return Proof(checksum, entry.size, part_size if checksum.algorithm == "crc32" else entry.size)


def is_encrypted(headers: Mapping[str, str]) -> bool:
    """Return whether the server encrypts the object in a way by which its ETag is no MD5 of its bytes."""
    encryption = headers.get("x-amz-server-side-encryption", "")
    return encryption.startswith("aws:kms") or "x-amz-server-side-encryption-customer-algorithm" in headers


def _of_etag(entry: S3Object, headers: Mapping[str, str], *, parts: bool) -> Checksum | None:
    if is_encrypted(headers):
        return None
    if entry.md5:
        return Checksum("md5", bytes.fromhex(entry.md5))
    return Checksum("md5", entry.pieces[0], of_pieces=True) if entry.pieces and parts else None


def _piece(wire: Wire, key: str, entry: S3Object) -> int:
    """Return the size in bytes of each uploaded part except the last; 0 if it is unknown or the sizes differ."""
    size, part_count = _part(wire, key, entry, 1)
    count = part_count or (entry.pieces[1] if entry.pieces else 0)
    if not size or count > MOST_PARTS or -(-entry.size // size) != count:
        return 0
    last, _ = _part(wire, key, entry, count)
    return size if last == entry.size - (count - 1) * size else 0


def _part(wire: Wire, key: str, entry: S3Object, number: int) -> tuple[int, int]:
    """Return the size in bytes of part `number`, counted from 1, and the number of parts; 0 for an unknown value."""
    headers = _head(wire, key, entry, [("partNumber", str(number))])
    if headers is None:
        return 0, 0
    return _number(headers.get("content-length", "")), _number(headers.get("x-amz-mp-parts-count", ""))


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0


def _head(wire: Wire, key: str, entry: S3Object, query: Query) -> Mapping[str, str] | None:
    asked = {"x-amz-checksum-mode": "ENABLED"} | ({"if-match": entry.etag} if entry.etag else {})
    try:
        response = wire.call("HEAD", key, query, headers=asked, accepted=_UNKNOWN)
    except AttemptError:
        return None
    return response.headers if response.is_success else None
