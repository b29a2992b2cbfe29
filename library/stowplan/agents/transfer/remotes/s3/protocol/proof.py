"""Checksums that the server has of objects, and requests for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.checksum import CRCS, Checksum, Proof, from_headers
from stowplan.agents.transfer.remotes.s3.protocol.connections import Incoming
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.refusal import REFUSED_CODES
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Query, RestClient

MOST_PARTS = 10_000
"""Maximum number of parts of one object, by https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html."""

_REFUSED = (400, 501)
"""Status codes of servers that refuse headers that they do not know."""

_UNKNOWN = (*_REFUSED, 403, 404, 405, 412, 416)
"""Status codes of servers that know no checksums or parts, or that now have another version of the object."""

_ASKED = {"x-amz-checksum-mode": "ENABLED"}

Headers = Mapping[str, str]
"""Headers by name in lower case."""


@dataclass
class Prover:
    """Finds the checksums that prove objects. Any thread may use it."""

    client: RestClient
    prefix: str
    """Prefix of the transfer in the bucket; the full key of an object is `prefix` plus its key."""
    log: Log
    verify_parts: bool
    """True if the ETag of an upload in parts counts too, which is a slow MD5 of the MD5s of the parts."""
    _asks: bool = True
    """False once the store has refused to be asked for checksums."""

    @contextmanager
    def reading(self, entry: S3Object, headers: Headers, accepted: Sequence[int]) -> Iterator[Incoming]:
        """Request an object and its checksum, without retries, and yield the answer before its body is read.

        Raises AttemptError unless the status is one of success or in `accepted`, and for broken connections.
        """
        for asked in self._ways():
            with ExitStack() as stack:
                request = self.client.reading(self.prefix + entry.key, {**headers, **asked}, accepted, entry.size)
                try:
                    incoming = stack.enter_context(request)
                except AttemptError as failure:
                    if asked and failure.reason in REFUSED_CODES:
                        continue
                    raise
                self._learn(asked, incoming.status)
                yield incoming
                return

    def proof(self, entry: S3Object, headers: Headers, part_size: int) -> Proof | None:
        """Return the checksum of an object that an answer about it has; None if it has none that can be computed.

        `part_size` is the size in bytes of the parts of the download. The server may be asked for the uploaded parts.
        """
        checksum, whole = from_headers(headers) or self._of_etag(entry, headers), entry.size or 1
        if checksum is None:
            return None
        if not checksum.of_pieces:
            return Proof(checksum, entry.size, part_size if checksum.algorithm in CRCS else whole)
        piece = whole if checksum.pieces == 1 else self._piece(entry, checksum.pieces)
        return Proof(checksum, entry.size, piece) if piece else None

    def head(self, entry: S3Object, query: Query = ()) -> Headers | None:
        """Ask for the headers of an object with its checksum; None if the server does not give them."""
        match = {"if-match": entry.etag} if entry.etag else {}
        for asked in self._ways():
            try:
                response = self.client.call(
                    "HEAD", self.prefix + entry.key, query, headers=match | asked, accepted=_UNKNOWN
                )
            except AttemptError:
                return None
            if response.is_success:
                self._learn(asked, response.status_code)
                return response.headers
            if response.status_code not in _REFUSED:
                return None
        return None

    def _ways(self) -> Iterator[dict[str, str]]:
        """Yield the headers by which a request asks for a checksum, and those of another try if it is refused."""
        if self._asks:
            yield _ASKED
        yield {}

    def _learn(self, asked: dict[str, str], status: int) -> None:
        if self._asks and not asked and status < 300:
            self._asks = False
            self.log.info("The store refuses to be asked for checksums: ETags count alone")

    def _of_etag(self, entry: S3Object, headers: Headers) -> Checksum | None:
        if is_encrypted(headers):
            return None
        if entry.md5:
            return Checksum("md5", bytes.fromhex(entry.md5), of_etag=True)
        if not (entry.pieces and entry.names_version and self.verify_parts):
            return None
        digest, count = entry.pieces
        return Checksum("md5", digest, of_pieces=True, pieces=count, of_etag=True)

    def _piece(self, entry: S3Object, pieces: int) -> int:
        """Return the size in bytes of each uploaded part except the last; 0 if it is unknown or the sizes differ.

        `pieces` is the number of parts if it is known, otherwise 0.
        """
        size, part_count = self._part(entry, 1)
        count = part_count or pieces or (entry.pieces[1] if entry.pieces else 0)
        if not size or count > MOST_PARTS or -(-entry.size // size) != count:
            return 0
        last, _ = self._part(entry, count)
        return size if last == entry.size - (count - 1) * size else 0

    def _part(self, entry: S3Object, number: int) -> tuple[int, int]:
        """Return the size in bytes of part `number`, counted from 1, and the number of parts; 0 if unknown."""
        headers = self.head(entry, [("partNumber", str(number))])
        if headers is None:
            return 0, 0
        return _number(headers.get("content-length", "")), _number(headers.get("x-amz-mp-parts-count", ""))


def is_encrypted(headers: Headers) -> bool:
    """Return whether the server encrypts the object in a way by which its ETag is no MD5 of its bytes."""
    encryption = headers.get("x-amz-server-side-encryption", "")
    return encryption.startswith("aws:kms") or "x-amz-server-side-encryption-customer-algorithm" in headers


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0
