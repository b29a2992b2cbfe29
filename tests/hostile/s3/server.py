"""An S3 server for one test, in memory, which can also return any other answer."""

import hashlib
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests import http_server
from tests.http_server import QuietHandler

BUCKET = "bucket"
MODIFIED = "2026-01-01T00:00:00.000Z"
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    method: str
    key: str
    """Empty for the bucket itself."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By name in lower case."""
    path: str = ""
    """As it was sent, without the query."""
    words: str = ""
    """The query as it was sent."""

    @property
    def is_listing(self) -> bool:
        return "list-type" in self.query


@dataclass(frozen=True)
class Answer:
    """What the server says instead."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: Callable[[socket.socket], None] | None = None
    """Writes all of the answer by itself, its head included."""


Rule = Callable[[Request], Answer | None]


@dataclass
class Server:
    """A running server."""

    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    """What the listing says, where it is not the digest; may hold any characters that XML can."""
    rule: Rule | None = None
    requests: list[Request] = field(default_factory=list)

    def listing(self, prefix: str = "") -> bytes:
        """One page with everything."""
        return page([(key, self.etag(key), len(data)) for key, data in sorted(self.objects.items())], prefix)

    def etag(self, key: str) -> str:
        return self.etags.get(key, f'"{hashlib.md5(self.objects[key], usedforsecurity=False).hexdigest()}"')


def page(entries: list[tuple[str, str, object]], prefix: str = "", token: str = "") -> bytes:
    """A page of a listing: key, ETag and size of each entry, and the token of the next page, empty for none."""
    contents = "".join(
        f"<Contents><Key>{quote(key)}</Key><LastModified>{MODIFIED}</LastModified>"
        f"<ETag>{escape(etag).replace(chr(13), '&#13;').replace(chr(10), '&#10;')}</ETag><Size>{size}</Size></Contents>"
        for key, etag, size in entries
        if key.startswith(prefix)
    )
    more = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="{NAMESPACE}"><Name>{BUCKET}</Name>'
        f"<EncodingType>url</EncodingType><IsTruncated>{str(bool(token)).lower()}</IsTruncated>{more}{contents}"
        "</ListBucketResult>"
    ).encode()


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server_: Server

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        key = unquote(parts.path, errors="surrogateescape").removeprefix(f"/{BUCKET}").removeprefix("/")
        given = parse_qs(parts.query, keep_blank_values=True, errors="surrogateescape")
        query = {name: values[0] for name, values in given.items()}
        request = Request(
            self.command,
            key,
            query,
            {name.lower(): value for name, value in self.headers.items()},
            parts.path,
            parts.query,
        )
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server_.requests.append(request)
        said = (self.server_.rule and self.server_.rule(request)) or self._usual(request, body)
        if said.raw:
            self.close_connection = True
            said.raw(self.connection)
            return
        self.send_response_only(said.status)
        headers = {"content-length": str(len(said.body)), **said.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said.body)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _answer

    def _usual(self, request: Request, body: bytes) -> Answer:
        if request.is_listing:
            return Answer(body=self.server_.listing(request.query.get("prefix", "")))
        if not request.key:
            return Answer(404 if "uploads" in request.query else 200)
        return self._object(request, body)

    def _object(self, request: Request, body: bytes) -> Answer:
        server = self.server_
        if request.method == "PUT":
            server.objects[request.key] = body
            return Answer(headers={"etag": server.etag(request.key)})
        data = server.objects.get(request.key)
        if data is None:
            return Answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        headers = {"etag": server.etag(request.key), "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        if request.method == "HEAD":
            return Answer(headers={**headers, "content-length": str(len(data))})
        if found := re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("range", "")):
            begin, end = int(found[1]), min(int(found[2]), len(data) - 1)
            headers["content-range"] = f"bytes {begin}-{end}/{len(data)}"
            return Answer(206, data[begin : end + 1], headers)
        return Answer(200, data, headers)


@contextmanager
def serving() -> Iterator[Server]:
    """A running server without objects."""
    server = Server()
    with http_server.serving(type("Handler", (_Handler,), {"server_": server})) as server.url:
        yield server
