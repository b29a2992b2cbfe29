"""An HTTP proxy in front of an S3 server, which injects the faults that a test requests."""

import http.client
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlsplit

from tests.http_server import QuietHandler, serving


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    method: str
    path: str
    """With the query."""
    range: str | None
    host: str = ""

    @property
    def is_listing(self) -> bool:
        return "list-type=2" in self.path


@dataclass(frozen=True)
class Fault:
    """What happens instead of, or to, the server's answer."""

    status: int | None = None
    """Answer this, without the server."""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    """Beside those of the server."""
    without: str = ""
    """What begins, in lower case, the names of the server's headers that are left out; empty for none."""
    seconds: float = 0
    """Wait before the answer."""
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    stall: float = 0
    """Seconds to say nothing before that."""
    truncate_to: int | None = None
    """Send so many bytes of the body, and say that it has no more."""
    flip: bool = False
    """Change one bit of the body."""
    change: Callable[[bytes], bytes] | None = None
    """Make another body of it."""


Rule = Callable[[Request], Fault | None]


@dataclass
class Proxy:
    """A running proxy."""

    url: str
    requests: list[Request] = field(default_factory=list)
    rule: Rule | None = None
    """The fault of each request; may count, and wait."""

    def count(self, method: str, part: str = "", *, listings: bool = False) -> int:
        """Requests of a method whose path holds something."""
        return sum(
            each.method == method and part in each.path and (listings or not each.is_listing) for each in self.requests
        )


def once_each(fault: Fault, when: Callable[[Request], bool]) -> Rule:
    """The first request to each path and range has the fault."""
    seen: set[tuple[str, str | None]] = set()
    lock = threading.Lock()

    def rule(request: Request) -> Fault | None:
        with lock:
            name = (request.path, request.range)
            if not when(request) or name in seen:
                return None
            seen.add(name)
            return fault

    return rule


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    proxy: Proxy
    target: tuple[str, int]

    def _pass(self) -> None:
        body = self._body()
        # As a proxy of its environment a client sends the whole URL.
        path = urlsplit(self.path)._replace(scheme="", netloc="").geturl() if "://" in self.path else self.path
        request = Request(self.command, path, self.headers.get("range"), self.headers.get("host", ""))
        self.proxy.requests.append(request)
        fault = (self.proxy.rule and self.proxy.rule(request)) or Fault()
        time.sleep(fault.seconds)
        if fault.status is not None:
            self._answer(fault.status, fault.headers, fault.body, Fault())
            return
        # Closed whatever happens: the server may be gone by now, and an open socket would be told in some later test.
        with closing(http.client.HTTPConnection(*self.target)) as connection:
            connection.putrequest(self.command, path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "expect"):
                    connection.putheader(name, value)
            connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            with connection.getresponse() as response:
                data = response.read()
        headers = {name: value for name, value in response.getheaders() if name.lower() not in ("connection", "date")}
        if fault.without:
            headers = {name: each for name, each in headers.items() if not name.lower().startswith(fault.without)}
        headers |= fault.headers
        if self.command != "HEAD" and response.status != 204:
            headers = {name: value for name, value in headers.items() if name.lower() != "content-length"}
        self._answer(response.status, headers, data, fault)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass

    def _answer(self, status: int, headers: dict[str, str], body: bytes, fault: Fault) -> None:
        if fault.change:
            body = fault.change(body)
        if fault.flip and body:
            body = bytes([body[0] ^ 1]) + body[1:]
        if fault.truncate_to is not None:
            body = body[: fault.truncate_to]
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.command != "HEAD" and status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if fault.cut_after is not None:
            body = body[: fault.cut_after]
            self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(body)
            self.wfile.flush()
            time.sleep(fault.stall)


@contextmanager
def proxied(server: str) -> Iterator[Proxy]:
    """A proxy in front of the server at this URL."""
    address = urlsplit(server)
    proxy, target = Proxy(""), (str(address.hostname), int(address.port or 80))
    handler = type("Handler", (_Handler,), {"proxy": proxy, "target": target})
    with serving(handler) as proxy.url:
        yield proxy


def listing_of(keys: list[str]) -> Rule:
    """A rule: each listing has those of these keys that begin with its prefix, in this order."""

    def rule(request: Request) -> Fault | None:
        if not request.is_listing:
            return None
        (prefix,) = parse_qs(urlsplit(request.path).query, keep_blank_values=True)["prefix"]
        return Fault(change=lambda body: with_keys(body, [each for each in keys if each.startswith(prefix)]))

    return rule


def with_keys(body: bytes, keys: list[str]) -> bytes:
    """The page of a listing with other keys, of one byte each, written as `encoding-type=url` asks for."""
    rest = "<LastModified>2026-01-01T00:00:00Z</LastModified><ETag>e</ETag><Size>1</Size>"
    contents = "".join(f"<Contents><Key>{quote(key)}</Key>{rest}</Contents>" for key in keys)
    plain = re.sub(r"(?s)<Contents>.*</Contents>|<EncodingType>.*?</EncodingType>", "", body.decode())
    end = "</ListBucketResult>"
    return plain.replace(end, f"<EncodingType>url</EncodingType>{contents}{end}").encode()


def leads_out(request: Request) -> Fault | None:
    """A rule: the object `z` has a key that leads out of its folder, to a file `escaped`."""
    if request.is_listing:
        return Fault(change=lambda body: re.sub(rb"z</Key>", b"z/../../escaped</Key>", body))
    if "escaped" in request.path:
        return Fault(status=200, body=b"z", headers={"last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"})
    return None
