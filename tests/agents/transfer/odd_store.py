"""A small S3 server with the quirks of stores that cannot run here, which the test that uses them names.

It answers listings, HEAD, GET with ranges, PUT and uploads in parts, checks no signatures, and keeps what it is sent.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.agents.transfer.server import Storage
from tests.http_server import QuietHandler, serving

BUCKET = "odd"
BORN = 1_700_000_000


@dataclass(frozen=True)
class Odd:
    """One version of an object."""

    data: bytes
    etag: str = ""
    """Without quotes; empty for a store that gives none."""
    modified: int = BORN
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of its answers to GET and HEAD, beside those of every object."""
    only_head: Mapping[str, str] = field(default_factory=dict)
    """The same, of HEAD alone."""
    dated: bool = True
    """Whether answers have the header Last-Modified."""
    sent: bytes | None = None
    """What GET sends instead of `data`, for a store or proxy that changes bodies."""
    chunked: bool = False
    """Whether GET says no length."""


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    key: str
    query: str
    headers: Mapping[str, str]
    """By name in lower case."""


@dataclass
class OddStore:
    """A running server."""

    endpoint: str = ""
    objects: dict[str, Odd] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    before: Callable[[Asked], None] | None = None
    """Called before each answer; may replace objects."""
    refuses: Callable[[Asked], tuple[int, str] | None] | None = None
    """Status and code of an error instead of an answer."""
    keeps: bool = True
    """Whether it knows the headers by which uploads ask it to keep checksums."""
    says: str = ""
    """The CRC-64/NVME that its answers to uploads give; empty for none."""
    completed: str = ""
    """The last document that completed an upload in parts."""
    parts: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def storage(self) -> Storage:
        return Storage(self.endpoint, BUCKET)

    def gets(self) -> list[Asked]:
        return [each for each in self.asked if each.method == "GET" and each.key]


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    store: OddStore

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        key = unquote(parts.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        asked = Asked(self.command, key, parts.query, {name.lower(): value for name, value in self.headers.items()})
        with self.store.lock:
            self.store.asked.append(asked)
            if self.store.before:
                self.store.before(asked)
            refused = self.store.refuses(asked) if self.store.refuses else None
            found = self.store.objects.get(key)
        if refused:
            self._answer(refused[0], {}, f"<Error><Code>{refused[1]}</Code></Error>".encode())
        elif self.command in ("PUT", "POST", "DELETE"):
            self._take(asked, body)
        elif not key:
            self._list(parse_qs(parts.query))
        elif found is None:
            self._answer(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._give(found)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve

    def _list(self, query: Mapping[str, list[str]]) -> None:
        if "uploads" in self.path:
            empty = b"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>"
            return self._answer(200, {}, empty)
        prefix = query.get("prefix", [""])[0]
        found = sorted((key, each) for key, each in self.store.objects.items() if key.startswith(prefix))
        body = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(each.data)}</Size>"
            f"<LastModified>{_iso(each.modified)}</LastModified>{_etag(each)}</Contents>"
            for key, each in found
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{body}</ListBucketResult>"
        return self._answer(200, {}, text.encode())

    def _give(self, found: Odd) -> None:
        headers = dict(found.headers)
        if found.dated:
            headers["last-modified"] = formatdate(found.modified, usegmt=True)
        if found.etag:
            headers["etag"] = f'"{found.etag}"'
        if self.command == "HEAD":
            return self._answer(200, {**headers, **found.only_head}, found.data)
        data = found.data if found.sent is None else found.sent
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range") or "")
        if asked:
            begin, end = int(asked[1]), int(asked[2]) + 1
            headers["content-range"] = f"bytes {begin}-{end - 1}/{len(data)}"
            return self._answer(206, headers, data[begin:end])
        return self._answer(200, headers, data, chunked=found.chunked)

    def _take(self, asked: Asked, body: bytes) -> None:
        if self.command == "PUT" and "partNumber" in asked.query:
            number = re.findall(r"partNumber=(\d+)", asked.query)[0]
            with self.store.lock:
                self.store.parts[number] = body
            return self._answer(200, {"etag": f'"part-{number}"'})
        if self.command == "PUT":
            self.store.objects[asked.key] = Odd(body, headers=_kept(asked))
            return self._answer(200, {"etag": '"whole"', "x-amz-checksum-crc64nvme": self.store.says})
        if "uploads" in asked.query:
            text = "<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>"
            return self._answer(200, _kept(asked) if self.store.keeps else {}, text.encode())
        if "uploadId" in asked.query and self.command == "POST":
            self.store.completed = body.decode()
            data = b"".join(self.store.parts[each] for each in sorted(self.store.parts, key=int))
            self.store.objects[asked.key] = Odd(data, headers=_kept(asked))
            said = f"<ChecksumCRC64NVME>{self.store.says}</ChecksumCRC64NVME>"
            text = f"<CompleteMultipartUploadResult>{said}</CompleteMultipartUploadResult>"
            return self._answer(200, {}, text.encode())
        return self._answer(204, {})

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes = b"", *, chunked: bool = False) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if chunked:
            self.send_header("transfer-encoding", "chunked")
            body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        else:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _kept(asked: Asked) -> dict[str, str]:
    return {name: value for name, value in asked.headers.items() if name.startswith("x-amz-checksum-")}


def _etag(each: Odd) -> str:
    return f"<ETag>&quot;{each.etag}&quot;</ETag>" if each.etag else ""


def _iso(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


@contextmanager
def odd_store() -> Iterator[OddStore]:
    """A server without objects."""
    store = OddStore()
    with serving(type("Odd", (_Handler,), {"store": store})) as url:
        store.endpoint = url
        yield store
