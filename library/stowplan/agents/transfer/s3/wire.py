"""Signed requests to one bucket, for what obstore has no calls for: exact listings and the steps of an upload."""

import hashlib
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

import httpx

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.attempts import Attempts, ThrottledError
from stowplan.agents.transfer.s3.endpoint import CONNECT_SECONDS, SILENCE_SECONDS, Bucket
from stowplan.agents.transfer.s3.failure import AUTH_CODES
from stowplan.agents.transfer.s3.signing import EMPTY_SHA256, encoded, query_string, signed_headers
from stowplan.schema.exit_codes import ExitCode

CHUNK = 1 << 20
LONGEST_WAIT = 60.0
"""The most seconds of a Retry-After that are waited for."""

_THROTTLED = frozenset({408, 429, 500, 502, 503, 504})
_THROTTLING_CODES = frozenset({"RequestTimeout", "SlowDown", "InternalError", "OperationAborted", "BadDigest"})

Query = Sequence[tuple[str, str]]


class Wire:
    """Connections to a bucket, which any thread may use."""

    def __init__(self, bucket: Bucket, attempts: Attempts, connections: int = 16) -> None:
        self.bucket = bucket
        self._attempts = attempts
        verify = ssl.create_default_context()
        if bucket.authorities:
            verify.load_verify_locations(cafile=str(bucket.authorities))
        self._http = httpx.Client(
            verify=verify,
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            follow_redirects=False,
        )

    def close(self) -> None:
        self._http.close()

    def call(
        self,
        method: str,
        key: str = "",
        query: Query = (),
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        accepted: Sequence[int] = (),
    ) -> httpx.Response:
        """The answer to a request, after as many tries as it takes; AttemptError for a refusal not in `accepted`.

        An empty key stands for the bucket itself.
        """
        what = f"{method} {self.bucket.name}/{key}"

        def once() -> httpx.Response:
            try:
                response = self._send(method, key, query, body, headers or {})
            except httpx.HTTPError as error:
                raise AttemptError(
                    ExitCode.TRANSIENT, "RequestFailed", f"{what}: {type(error).__name__}: {error}"
                ) from None
            if response.is_success or response.status_code in accepted:
                return response
            raise refusal(response, what)

        return self._attempts.run(what, once)

    def _send(self, method: str, key: str, query: Query, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        bucket = self.bucket
        path = f"{bucket.root}/{encoded(key, '/')}" if key else (bucket.root or "/")
        words = query_string(query)
        sha256 = hashlib.sha256(body).hexdigest() if body else EMPTY_SHA256
        plain = {**headers, "content-length": str(len(body))}
        complete = (
            signed_headers(
                method,
                host=bucket.host,
                path=path,
                query=words,
                sha256=sha256,
                region=bucket.region,
                credentials=bucket.credentials,
                now=datetime.now(UTC),
                headers=plain,
            )
            if bucket.credentials
            else plain | {"host": bucket.host}
        )
        raw = f"{path}?{words}" if words else path
        url = httpx.URL(f"{bucket.scheme}://{bucket.host}").copy_with(raw_path=raw.encode("ascii"))
        return self._http.request(method, url, headers=complete, content=_chunks(body) if body else None)


def _chunks(body: bytes) -> Iterator[bytes]:
    view = memoryview(body)
    for offset in range(0, len(view), CHUNK):
        yield bytes(view[offset : offset + CHUNK])


def refusal(response: httpx.Response, what: str) -> AttemptError:
    """What an answer of 300 or above means."""
    status, (code, message) = response.status_code, _error(response.content)
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


def _error(content: bytes) -> tuple[str, str]:
    try:
        found = ElementTree.fromstring(content)  # noqa: S314 - expat bounds what entities may grow to
    except ElementTree.ParseError:
        return "", content[:200].decode(errors="replace")
    return found.findtext("Code") or "", found.findtext("Message") or ""


def _retry_after(text: str) -> float:
    return min(LONGEST_WAIT, float(text)) if text.isdecimal() else 0.0
