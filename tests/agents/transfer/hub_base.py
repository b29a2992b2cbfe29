"""Servers of the tests' Hub: common parts of all request handlers, and the storage of the Hub."""

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.agents.transfer.hub_store import Store

TOKEN = "hf_CANARY+0123456789/abcdefghij=="
"""With characters that each encoding writes in its own way; real ones have none of them."""

SIGNATURE = "signature=c2lnbmVk"
PART = 5 << 20
"""Bytes of a part of an upload to the storage."""

PAGE = 1000


@dataclass
class Hub:
    """A running Hub."""

    store: Store
    url: str = ""
    storage: str = ""
    """URL of the storage that clients are sent to; a test may put a proxy there."""
    scheme: str = "http"
    users: dict[str, str] = field(default_factory=lambda: {TOKEN: "tester"})
    page: int = PAGE
    leaks: list[str] = field(default_factory=list)
    """Requests to the storage that came with credentials."""
    seen: list[str] = field(default_factory=list)
    """Method and path of all requests to both."""
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    multipart: bool = True
    xet: Any = None
    """The Xet store (`hub_xet`), if there is one."""
    sent_bytes: int = 0
    """Of contents, as far as clients took them."""


class Refused(Exception):  # noqa: N818 - an answer
    """An answer that is an error, with the word that the Hub puts into a header."""

    def __init__(self, status: int, code: str, message: str, **body: str) -> None:
        super().__init__(message)
        self.status, self.code, self.body = status, code, body


class Base(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def _handle(self) -> None:
        # A body that nobody reads would be the next request.
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.hub.seen.append(f"{self.command} {self.path}")
        try:
            self._route()
        except Refused as refused:
            headers = {"X-Error-Message": str(refused)} | ({"X-Error-Code": refused.code} if refused.code else {})
            self._json({"error": str(refused), **refused.body}, refused.status, headers)

    do_GET = do_HEAD = do_PUT = do_POST = _handle

    def _route(self) -> None:
        raise NotImplementedError

    def _json(self, found: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(found).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _file(self, path: Path, headers: dict[str, str]) -> None:
        """A file or, as the client wishes, a range of it."""
        size = path.stat().st_size
        start, end, status = 0, size, 200
        if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", "")):
            start, end, status = int(found[1]), min(size, int(found[2] or size) + 1), 206
            headers = {**headers, "content-range": f"bytes {start}-{end - 1}/{size}"}
        self._head(status, {"accept-ranges": "bytes", "content-length": str(end - start), **headers})
        if self.command == "HEAD":
            return
        with path.open("rb") as file:
            self.wfile.flush()
            if self.hub.scheme == "https":
                file.seek(start)
                self.wfile.write(file.read(end - start))
                return
            while start < end and (count := os.sendfile(self.connection.fileno(), file.fileno(), start, end - start)):
                start += count
                self.hub.sent_bytes += count

    def log_message(self, *_: object) -> None:
        pass


class StorageHandler(Base):
    """Only whoever has a signed URL may read or write."""

    def _route(self) -> None:
        if "authorization" in self.headers or "cookie" in self.headers:
            self.hub.leaks.append(self.path)
            raise Refused(400, "", "Only one auth mechanism allowed")
        path, _, query = self.path.partition("?")
        if SIGNATURE not in query:
            raise Refused(403, "", "Access denied: the URL is not signed")
        _, kind, sha256, *rest = path.split("/")
        if kind == "lfs":
            self._file(self.hub.store.content(sha256), {"etag": f'"{sha256}"'})
            return
        if kind == "upload" and self.hub.store.keep(self.body) != sha256:
            raise Refused(400, "", "The content does not have the given digest")
        if kind == "part":
            self.hub.uploads[sha256][int(rest[0])] = self.body
        self._head(200, {"etag": f'"{etag(self.body)}"', "content-length": "0"})


def etag(data: bytes) -> str:
    """As S3 makes it of one part."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Clients that were killed hang up."""
