"""A bucket in memory that speaks as much of S3 as `juicefs sync` and the agent ask for.

Keys may be any strings, as in Amazon's stores, and each object has the time and the ETag that the test gives it: a real
server on a file system has neither `a//b` beside `a/b`, nor two versions within a second whenever a test wants them.
"""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from time import gmtime, strftime
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.http_server import QuietHandler, serving

BUCKET = "bucket"


@dataclass(frozen=True)
class Stored:
    """One object."""

    data: bytes
    modified: int
    """Whole seconds since 1970."""

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.data, usedforsecurity=False).hexdigest()}"'


@dataclass
class Bucket:
    """A bucket that a server has."""

    url: str = ""
    objects: dict[str, Stored] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Keys whose content the server fails to send."""
    etags: bool = True
    """Whether listings name ETags."""
    page: int = 1000
    """Most objects of one page of a listing."""
    fetched: list[str] = field(default_factory=list)
    """Keys whose content was asked for."""
    listings: int = 0
    """Number of pages that were asked for."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def source(self) -> str:
        return f"minio://{self.url.partition('://')[2]}/{BUCKET}/"

    def put(self, objects: dict[str, bytes], modified: int) -> None:
        self.objects |= {key: Stored(data, modified) for key, data in objects.items()}

    def touch(self, key: str, modified: int) -> None:
        """Give an object another time."""
        self.objects[key] = replace(self.objects[key], modified=modified)

    def listing(self, query: dict[str, list[str]]) -> bytes:
        """A page, as the API has it."""
        prefix, after = (query.get(name, [""])[0] for name in ("prefix", "start-after"))
        begin = query.get("continuation-token", [after])[0]
        keys = sorted((key for key in self.objects if key.startswith(prefix) and key > begin), key=str.encode)
        most = min(self.page, int(query.get("max-keys", ["1000"])[0]))
        page, is_cut = keys[:most], len(keys) > most
        contents = "".join(self._content(key) for key in page)
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if is_cut else ""
        return (
            f"<ListBucketResult><Name>{BUCKET}</Name><EncodingType>url</EncodingType>"
            f"<IsTruncated>{str(is_cut).lower()}</IsTruncated>{token}{contents}</ListBucketResult>"
        ).encode()

    def _content(self, key: str) -> str:
        found = self.objects[key]
        time = strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime(found.modified))
        etag = f"<ETag>{escape(found.etag)}</ETag>" if self.etags else ""
        return (
            f"<Contents><Key>{quote(key)}</Key><LastModified>{time}</LastModified>{etag}"
            f"<Size>{len(found.data)}</Size></Contents>"
        )


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    bucket: Bucket

    def _serve(self) -> None:
        address = urlsplit(self.path)
        key = unquote(address.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        if not key:
            with self.bucket.lock:
                self.bucket.listings += 1
            self._answer(200, self.bucket.listing(parse_qs(address.query)), {"content-type": "application/xml"})
            return
        found = self.bucket.objects.get(key)
        if found is None:
            self._answer(404, b"", {})
            return
        data, status = found.data, 200
        if self.command == "GET":
            with self.bucket.lock:
                self.bucket.fetched.append(key)
            if key in self.bucket.broken:
                self._answer(500, b"", {})
                return
        if asked := self.headers.get("range"):
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            data, status = data[int(begin) : int(end) + 1 if end else None], 206
        time = formatdate(found.modified, usegmt=True)
        self._answer(status, data, {"etag": found.etag, "last-modified": time})

    do_GET = do_HEAD = _serve

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@contextmanager
def serving_bucket() -> Iterator[Bucket]:
    """An empty bucket on a server of its own."""
    bucket = Bucket()
    with serving(type("Handler", (_Handler,), {"bucket": bucket})) as bucket.url:
        yield bucket
