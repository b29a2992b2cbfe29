"""Signed requests to one bucket, with retries and limits for the answers."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.network.retry import Attempts, ThrottledError
from stowplan.agents.transfer.network.throttle import Throttle
from stowplan.agents.transfer.remotes.s3.protocol.answers import Document, bad, parsed
from stowplan.agents.transfer.remotes.s3.protocol.connections import Connections, Incoming, LineError
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import Bucket
from stowplan.agents.transfer.remotes.s3.protocol.failure import AUTH_CODES
from stowplan.agents.transfer.remotes.s3.protocol.pace import Allowance
from stowplan.agents.transfer.remotes.s3.protocol.signing import EMPTY_SHA256, encoded, query_string, signed_headers
from stowplan.schema.agents.exit_codes import ExitCode

LONGEST_WAIT = 60.0
"""Maximum seconds that an answer's header `Retry-After` can delay the next try."""

PAGE_BYTES, ERROR_BYTES = 16 << 20, 64 << 10
"""Maximum bytes of an XML answer, and of an error. A listing of 1000 keys of 1024 bytes has less than 4 MiB."""

SHOWN, MESSAGE = 200, 1000
"""Maximum characters that a message quotes: of an error answer that is not from S3, and of an S3 error's message."""

_THROTTLED = frozenset({408, 429, 500, 502, 503, 504})
_THROTTLING_CODES = frozenset({"RequestTimeout", "SlowDown", "InternalError", "OperationAborted", "BadDigest"})

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")

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
class Response:
    """Answer with its complete body."""

    status_code: int
    headers: Mapping[str, str]
    """Headers by name in lower case."""
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300


class Wire:
    """Client that sends requests to one bucket. Any thread may use it."""

    def __init__(
        self, bucket: Bucket, attempts: Attempts, redact: Redactor, bytes_per_second: int | None = None
    ) -> None:
        self.bucket = bucket
        self.throttle = Throttle(bytes_per_second, attempts.stop)
        self._attempts, self._redact = attempts, redact
        self._connections = Connections(bucket)

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
        seconds: float | None = None,
    ) -> Response:
        """Send a request, with retries after failures that may pass, and return its answer.

        Raises AttemptError unless the answer has a status of success or one in `accepted`. An empty `key` addresses the
        bucket itself. `seconds` is the waiting time in which a small answer, or each 64 KiB of a large one, must
        arrive; None for a minute.
        """
        what = f"{method} {self.bucket.name}/{key}"
        sent: Body = Text(body) if isinstance(body, bytes) else body

        def once() -> Response:
            with _named(what):
                response = self._send(method, key, query, sent, headers=headers or {}, seconds=seconds)
            if response.is_success or response.status_code in accepted:
                return response
            raise refusal(response, what, self._redact)

        return self._attempts.run(what, once)

    def said(self, response: Response) -> str:
        """Return code and message of an S3 error, or the beginning of another answer, as one string without secrets."""
        return " ".join(_error(response.content, self._redact)).strip()

    @contextmanager
    def reading(self, key: str, headers: Mapping[str, str], accepted: Sequence[int], most: int) -> Iterator[Incoming]:
        """Request an object, without retries, and yield the answer before its body is read.

        `most` is the maximum size of the body in bytes. Raises AttemptError unless the answer has a status of success
        or one in `accepted`, and for connection errors inside of the `with` block.
        """
        what = f"GET {self.bucket.name}/{key}"
        request = self._request("GET", key, (), Text(b""), headers=headers, allowed=Allowance(most))
        with _named(what), request as incoming:
            if not (200 <= incoming.status < 300 or incoming.status in accepted):
                raise refusal(_error_of(incoming), what, self._redact)
            yield incoming

    def _send(
        self, method: str, key: str, query: Query, body: Body, *, headers: Mapping[str, str], seconds: float | None
    ) -> Response:
        allowed = Allowance(PAGE_BYTES, seconds)
        with self._request(method, key, query, body, headers=headers, allowed=allowed) as incoming:
            if incoming.status >= 300:
                return _error_of(incoming)
            data, whole = incoming.read(PAGE_BYTES)
            if not whole:
                raise bad(f"more than {PAGE_BYTES >> 20} MiB in answer to {method} {self.bucket.name}/{key}")
            return Response(incoming.status, incoming.headers, data)

    def _request(
        self, method: str, key: str, query: Query, body: Body, *, headers: Mapping[str, str], allowed: Allowance
    ) -> AbstractContextManager[Incoming]:
        bucket = self.bucket
        path = f"{bucket.root}/{encoded(key, '/')}" if key else (bucket.root or "/")
        words = query_string(query)
        plain = {**headers, "content-length": str(body.size)}
        complete = (
            signed_headers(
                method,
                host=bucket.host,
                path=path,
                query=words,
                sha256=body.sha256,
                region=bucket.region,
                credentials=bucket.credentials,
                now=datetime.now(UTC),
                headers=plain,
            )
            if bucket.credentials
            else plain | {"host": bucket.host}
        )
        target = f"{path}?{words}" if words else path
        return self._connections.request(method, target, complete, self._throttled(body), allowed=allowed)

    def _throttled(self, body: Body) -> Iterator[bytes]:
        for data in body.chunks():
            self.throttle.moved(len(data))
            yield data


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


def refusal(response: Response, what: str, redact: Redactor) -> AttemptError:
    """Return the failure for an answer with status 300 or above. `what` is the beginning of its message."""
    status, (code, message) = response.status_code, _error(response.content, redact)
    text = f"{what}: {status} {code} {message}".strip()
    if status in _THROTTLED or code in _THROTTLING_CODES:
        return ThrottledError(text, _retry_after(response.headers.get("retry-after", "")))
    if status in (401, 403) or code in AUTH_CODES:
        return AttemptError(ExitCode.AUTH, "AccessDenied", text)
    if status == 404:
        return AttemptError(ExitCode.NOT_FOUND, code or "NotFound", text)
    if 300 <= status < 400:
        region = response.headers.get("x-amz-bucket-region", "")
        hint = f"the bucket is in region {region[:SHOWN]}" if region else "is the region right?"
        pointed = (
            f" The server points to {host[:SHOWN]}, but redirects of a store are not followed"
            if (host := _host(response.headers.get("location", "")))
            else ""
        )
        return AttemptError(ExitCode.BAD_SPEC, "WrongRegion", redact(f"{text}; {hint}{pointed}"))
    return AttemptError(
        ExitCode.BAD_SPEC if code.startswith("Invalid") else ExitCode.TRANSIENT, code or "Refused", text
    )


def _error(content: bytes, redact: Redactor) -> tuple[str, str]:
    found = parsed(content)
    if found is None or (error := Document(found, "an error")).name != "Error":
        return "", redact(content.decode(errors="replace"))[:SHOWN]
    code = redact(error.text("Code"))
    return code if _CODE.fullmatch(code) else "", redact(error.text("Message"))[:MESSAGE]


def _host(location: str) -> str:
    """Return only the host of a redirect's URL, since the rest may hold signatures; empty if there is no host."""
    try:
        return urlsplit(location).hostname or ""
    except ValueError:
        return ""


def _retry_after(text: str) -> float:
    """Return the seconds to wait by a Retry-After header, which is a number or a date; 0 if missing or invalid."""
    try:
        seconds = float(text) if text.isdecimal() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, min(LONGEST_WAIT, seconds))
