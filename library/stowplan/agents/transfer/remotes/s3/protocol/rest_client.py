"""Signed requests to one bucket, with retries and limits for the answers."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.network.throttle import Throttle
from stowplan.agents.transfer.remotes.s3.protocol.answers import Response, bad
from stowplan.agents.transfer.remotes.s3.protocol.connections import Connections, Incoming, LineError
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import Bucket
from stowplan.agents.transfer.remotes.s3.protocol.pace import Pace
from stowplan.agents.transfer.remotes.s3.protocol.refusal import error_of, refusal
from stowplan.agents.transfer.remotes.s3.protocol.signing import (
    EMPTY_SHA256,
    Unsigned,
    encoded,
    query_string,
    signed_headers,
)
from stowplan.schema.agents.exit_codes import ExitCode

PAGE_BYTES, ERROR_BYTES = 16 << 20, 64 << 10
"""Maximum bytes of an XML answer, and of an error. A listing of 1000 keys of 1024 bytes has less than 4 MiB."""

Query = Sequence[tuple[str, str]]
"""Parameters of a URL's query as (name, value) pairs, not yet percent-encoded."""


class Body(Protocol):
    """Body of a request. `chunks` may be called several times: for the digest, and for each try of the request."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes in hexadecimal digits."""

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes of the body in order, from the beginning."""


@dataclass(frozen=True, slots=True)
class Text:
    """Small request body in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest() if self.data else EMPTY_SHA256

    def chunks(self) -> Iterator[bytes]:
        if self.data:
            yield self.data


@dataclass(frozen=True, slots=True)
class Request:
    """Request to a bucket: about the bucket itself, or about the object with the full key `key`."""

    method: str
    key: str = ""
    query: Query = ()
    body: Body = Text(b"")
    headers: Mapping[str, str] = field(default_factory=dict)
    most: int = PAGE_BYTES
    """Maximum size of the answer's body in bytes."""
    seconds: float | None = None
    """Seconds of waiting in which a small answer, or each 64 KiB of a large one, must arrive; None for a minute."""


class RestClient:
    """Client that sends requests to one bucket. Any thread may use it. It must be closed.

    `bytes_per_second` limits what it sends, and what a reader reports to `throttle`; None means no limit.
    """

    def __init__(
        self, bucket: Bucket, attempts: Attempts, redact: Redactor, bytes_per_second: int | None = None
    ) -> None:
        self.bucket = bucket
        self.throttle = Throttle(bytes_per_second, attempts.stop)
        self._attempts, self._redact = attempts, redact
        self._connections = Connections(bucket)
        self._sends_match = True
        """False once the store has refused the ETag that an object has."""

    def close(self) -> None:
        self._connections.close()

    def call(
        self,
        method: str,
        key: str = "",
        query: Query = (),
        body: bytes | Body = b"",
        *,
        headers: Mapping[str, str] | None = None,
        accepted: Sequence[int] = (),
    ) -> Response:
        """Send a request about an object, by its full key, or (empty) the bucket itself; return the answer.

        There are retries. Raises AttemptError unless the status is one of success or in `accepted`.
        """
        sent: Body = Text(body) if isinstance(body, bytes) else body
        return self.send(Request(method, key, query, sent, headers or {}), accepted)

    def send(self, request: Request, accepted: Sequence[int]) -> Response:
        """Send a request, with retries after failures that may pass, and return its answer.

        Raises AttemptError unless the answer has a status of success or one in `accepted`.
        """
        what = self._what(request)

        def once() -> Response:
            with _named(what):
                response = self._send(request)
            if response.is_success or response.status_code in accepted:
                return response
            if request.method == "HEAD" and response.status_code == 400:
                raise self._unexplained(response, request.key, what)
            raise refusal(response, what, self._redact)

        return self._attempts.run(what, once)

    def _unexplained(self, response: Response, key: str, what: str) -> AttemptError:
        """Return the failure for an answer 400 to HEAD, whose reason only the answer to a GET can tell."""
        asking = (
            Request("GET", key, headers={"range": "bytes=0-0"}) if key else Request("GET", query=[("location", "")])
        )
        with _named(what):
            asked = self._send(asking)
        if not asked.is_success and error_of(asked.content, self._redact)[0]:
            return refusal(asked, what, self._redact)
        failure = refusal(response, what, self._redact)
        if failure.reason != "Refused":
            return failure
        message = (
            f"{failure} and no reason, which an answer to HEAD cannot hold. Is {self.bucket.region} the region of the"
            " bucket, must the bucket be in the host (`pathStyle: false`) or in the path, is the clock of this machine"
            " right, are the credentials still valid, and is the object encrypted with a key of its own (SSE-C)?"
        )
        return AttemptError(failure.code, failure.reason, message)

    def said(self, response: Response) -> str:
        """Return code and message of an S3 error, or the beginning of another answer, as one string without secrets."""
        return " ".join(error_of(response.content, self._redact)).strip()

    @contextmanager
    def reading(self, key: str, headers: Mapping[str, str], accepted: Sequence[int], most: int) -> Iterator[Incoming]:
        """Request an object, without retries, and yield the answer before its body is read.

        `most` is the maximum size of the body in bytes. Raises AttemptError unless the answer has a status of success
        or one in `accepted`, and for connection errors inside of the `with` block.
        """
        request = Request("GET", key, headers=headers, most=most)
        what = self._what(request)
        with _named(what), self._matching(request) as incoming:
            if not (200 <= incoming.status < 300 or incoming.status in accepted):
                raise refusal(_error_of(incoming), what, self._redact)
            yield incoming

    def _send(self, request: Request) -> Response:
        with self._matching(request) as incoming:
            if incoming.status >= 300:
                return _error_of(incoming)
            data, whole = incoming.read(PAGE_BYTES)
            if not whole:
                where = f"{request.method} {self.bucket.name}/{request.key}"
                raise bad(f"more than {PAGE_BYTES >> 20} MiB in answer to {where}")
            return Response(incoming.status, incoming.headers, data)

    def _what(self, request: Request) -> str:
        """Return what a request asks for, as the beginning of messages."""
        return f"{request.method} {self.bucket.name}/{request.key}{self._connections.way}"

    @contextmanager
    def _matching(self, request: Request) -> Iterator[Incoming]:
        """Send a request and yield its answer, of status 412 if the object has another ETag than that of `if-match`.

        Some stores answer 412 to every ETag in quotes (DigitalOcean Spaces). They are told apart by a HEAD, and from
        then on asked without the header; the ETag of the answer decides.
        """
        wanted = request.headers.get("if-match", "")
        if not wanted or self._sends_match:
            with self._request(request) as incoming:
                if not wanted or incoming.status != 412 or not self._has(request.key, wanted):
                    yield incoming
                    return
            self._sends_match = False
        rest = {name: value for name, value in request.headers.items() if name != "if-match"}
        with self._request(replace(request, headers=rest)) as incoming:
            other = incoming.status < 300 and _plain(incoming.headers.get("etag", "")) != _plain(wanted)
            yield replace(incoming, status=412) if other else incoming

    def _has(self, key: str, etag: str) -> bool:
        """Return whether the object with this key has this ETag now."""
        with self._request(Request("HEAD", key, most=0)) as incoming:
            return incoming.status < 300 and _plain(incoming.headers.get("etag", "")) == _plain(etag)

    def _request(self, request: Request) -> AbstractContextManager[Incoming]:
        bucket, body = self.bucket, request.body
        path = f"{bucket.root}/{encoded(request.key, '/')}" if request.key else (bucket.root or "/")
        query, headers = query_string(request.query), {**request.headers, "content-length": str(body.size)}
        if bucket.credentials:
            unsigned = Unsigned(request.method, bucket.host, path, query, headers, body.sha256)
            headers = signed_headers(unsigned, bucket.credentials, bucket.region, datetime.now(UTC))
        else:
            headers["host"] = bucket.host
        target = f"{path}?{query}" if query else path
        pace = Pace(request.most, request.seconds)
        return self._connections.request(request.method, target, headers, self._throttled(body), pace=pace)

    def _throttled(self, body: Body) -> Iterator[bytes]:
        for data in body.chunks():
            self.throttle.moved(len(data))
            yield data


def _plain(etag: str) -> str:
    return etag.removeprefix("W/").strip('"')


def _error_of(incoming: Incoming) -> Response:
    """Return an answer with at most `ERROR_BYTES` of its body, which is an error message or not needed."""
    return Response(incoming.status, incoming.headers, incoming.read(ERROR_BYTES)[0])


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Translate a LineError of the block into a temporary AttemptError whose message begins with `what`."""
    try:
        yield
    except LineError as error:
        raise AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"{what}: {error}") from None
