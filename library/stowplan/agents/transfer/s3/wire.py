"""Signed requests to one bucket: exact listings, parts of large objects, the steps of an upload."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol
from xml.etree import ElementTree

from obstore.exceptions import BaseError

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.attempts import Attempts, ThrottledError
from stowplan.agents.transfer.s3.connections import Connections, Incoming, LineError
from stowplan.agents.transfer.s3.endpoint import Bucket
from stowplan.agents.transfer.s3.failure import AUTH_CODES
from stowplan.agents.transfer.s3.signing import EMPTY_SHA256, encoded, query_string, signed_headers
from stowplan.schema.exit_codes import ExitCode

LONGEST_WAIT = 60.0
"""The most seconds of a Retry-After that are waited for."""

SHOWN = 200
"""Characters of a page that is no error of S3."""

_THROTTLED = frozenset({408, 429, 500, 502, 503, 504})
_THROTTLING_CODES = frozenset({"RequestTimeout", "SlowDown", "InternalError", "OperationAborted", "BadDigest"})

_THROTTLED_TEXT = re.compile(r"\b(429|503) ")
"""In what obstore says of an answer."""

Query = Sequence[tuple[str, str]]


class Body(Protocol):
    """What a request sends. It may be read several times: for its digest, and for each try."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def sha256(self) -> str:
        """In hexadecimal digits."""

    def chunks(self) -> Iterator[bytes]:
        """Its bytes."""


@dataclass(frozen=True, slots=True)
class Text:
    """A small body that is at hand."""

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
    """An answer that has come completely."""

    status_code: int
    headers: Mapping[str, str]
    """By name in lower case."""
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300


class Wire:
    """What a bucket is asked. Any thread may use it."""

    def __init__(self, bucket: Bucket, attempts: Attempts, redact: Redactor) -> None:
        self.bucket = bucket
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
    ) -> Response:
        """The answer to a request, after as many tries as it takes; AttemptError for a refusal not in `accepted`.

        An empty key stands for the bucket itself.
        """
        what = f"{method} {self.bucket.name}/{key}"
        sent: Body = Text(body) if isinstance(body, bytes) else body

        def once() -> Response:
            with _named(what):
                response = self._send(method, key, query, sent, headers or {})
            if response.is_success or response.status_code in accepted:
                return response
            raise refusal(response, what, self._redact)

        return self._attempts.run(what, once)

    @contextmanager
    def reading(self, key: str, headers: Mapping[str, str], accepted: Sequence[int]) -> Iterator[Incoming]:
        """An object bit by bit, of a single try. AttemptError, also for what goes wrong while it is read."""
        what = f"GET {self.bucket.name}/{key}"
        with _named(what), self._request("GET", key, (), Text(b""), headers) as incoming:
            if not (200 <= incoming.status < 300 or incoming.status in accepted):
                raise refusal(Response(incoming.status, incoming.headers, incoming.read()), what, self._redact)
            yield incoming

    @contextmanager
    def throttling(self, key: str) -> Iterator[None]:
        """Around a request of obstore: it does not tell the headers of a refusal, so a small request asks for them."""
        try:
            yield
        except BaseError as error:
            text = str(error).partition("\n")[0]
            if not _THROTTLED_TEXT.search(text):
                raise
            raise ThrottledError(f"{key}: {text}", self._patience(key)) from None

    def _patience(self, key: str) -> float:
        """Seconds that the server wants to be left alone, by what it answers now."""
        try:
            response = self._send("HEAD", key, (), Text(b""), {})
        except LineError:
            return 0.0
        return _retry_after(response.headers.get("retry-after", "")) if response.status_code in _THROTTLED else 0.0

    def _send(self, method: str, key: str, query: Query, body: Body, headers: Mapping[str, str]) -> Response:
        with self._request(method, key, query, body, headers) as incoming:
            return Response(incoming.status, incoming.headers, incoming.read())

    def _request(
        self, method: str, key: str, query: Query, body: Body, headers: Mapping[str, str]
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
        return self._connections.request(method, f"{path}?{words}" if words else path, complete, body.chunks())


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Says what failed by a failure of the connection."""
    try:
        yield
    except LineError as error:
        raise AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"{what}: {error}") from None


def refusal(response: Response, what: str, redact: Redactor) -> AttemptError:
    """What an answer of 300 or above means."""
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
        hint = f"; the bucket is in region {region}" if region else "; is the region right?"
        return AttemptError(ExitCode.BAD_SPEC, "WrongRegion", text + hint)
    return AttemptError(
        ExitCode.BAD_SPEC if code.startswith("Invalid") else ExitCode.TRANSIENT, code or "Refused", text
    )


def _error(content: bytes, redact: Redactor) -> tuple[str, str]:
    try:
        found = ElementTree.fromstring(content)  # noqa: S314 - expat bounds what entities may grow to
    except ElementTree.ParseError:
        return "", redact(content.decode(errors="replace"))[:SHOWN]
    return found.findtext("Code") or "", found.findtext("Message") or ""


def _retry_after(text: str) -> float:
    """Seconds, which a server gives as such or as a date."""
    try:
        seconds = float(text) if text.isdecimal() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, min(LONGEST_WAIT, seconds))
