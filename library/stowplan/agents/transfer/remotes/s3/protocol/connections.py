"""HTTP/1.1 connections to the server of one bucket, with or without TLS, direct or through the environment's proxy.

Received bytes are written directly into the caller's buffer, so large objects need little processor time.
"""

import http.client
import io
import select
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from stowplan.agents.transfer.network.proxy import Proxy, proxy_of
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import CONNECT_SECONDS, SILENCE_SECONDS, Bucket
from stowplan.agents.transfer.remotes.s3.protocol.pace import Pace, PacedReader


class LineError(Exception):
    """A connection could not be opened, broke, or was silent for too long."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """Answer whose body is not yet read."""

    response: http.client.HTTPResponse
    status: int

    @property
    def headers(self) -> dict[str, str]:
        """Headers by name in lower case."""
        return {name.lower(): value for name, value in self.response.getheaders()}

    def read(self, most: int) -> tuple[bytes, bool]:
        """Return the body's first bytes, at most `most`, and whether they are all. Call it once. Raises LineError."""
        with _line():
            data = self.response.read(most)
            # This also reads the end of a body of unknown length, so that the connection can be reused.
            more = self.response.read(1)
            if not more and self.response.length:
                raise http.client.IncompleteRead(data, self.response.length)
            return data, not more

    def fill(self, buffer: memoryview) -> int:
        """Read bytes of the body into `buffer` and return their number, smaller only at its end. Raises LineError."""
        with _line():
            count = self.response.readinto(buffer)
            if not count and self.response.length:
                raise http.client.IncompleteRead(b"", self.response.length)
            return count


class _Response(http.client.HTTPResponse):
    """Response of http.client whose reads `pace` counts and limits."""

    def __init__(self, sock: socket.socket, *rest: Any, pace: Pace, **more: Any) -> None:
        super().__init__(sock, *rest, **more)
        self.fp = io.BufferedReader(PacedReader(self.fp.detach(), pace))


@dataclass
class Connections:
    """Pool of reusable connections to one bucket's server, for any thread. `close` closes those not in use."""

    bucket: Bucket
    _idle: list[http.client.HTTPConnection] = field(default_factory=list)

    @property
    def way(self) -> str:
        """How the server is reached, as the end of a phrase: empty if directly."""
        return f" through the proxy {self._proxy.host}" if self._proxy else ""

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def request(
        self, method: str, path: str, headers: Mapping[str, str], body: Iterable[bytes], *, pace: Pace
    ) -> Iterator[Incoming]:
        """Send a request and yield its answer before the body is read. Redirects are not followed.

        `path` includes the query and is percent-encoded. `headers` must have the host and the length of `body`. Raises
        LineError and any error of `body`.
        """
        with _line():
            connection = self._connection()
        connection.response_class = partial(_Response, pace=pace)  # type: ignore[assignment]
        connection.sock.settimeout(max(SILENCE_SECONDS, pace.seconds or 0))
        try:
            with _line():
                self._begin(connection, method, path, headers)
            whole = _send(connection, body)
            with _line():
                response = connection.getresponse()
            with closing(response):
                yield Incoming(response, response.status)
                whole = whole and response.isclosed() and not (response.length or response.will_close)
        except BaseException:
            connection.close()
            raise
        if whole:
            self._idle.append(connection)
        else:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._new()
            if not _is_over(connection):
                return connection
            connection.close()

    def _new(self) -> http.client.HTTPConnection:
        proxy, bucket = self._proxy, self.bucket
        host = proxy.host if proxy else bucket.host
        if bucket.scheme == "http":
            new = http.client.HTTPConnection(host, timeout=CONNECT_SECONDS)
        else:
            new = http.client.HTTPSConnection(host, timeout=CONNECT_SECONDS, context=self._tls)
            if proxy:
                new.set_tunnel(bucket.host, headers=proxy.headers)
        # Only here http.client resolves a name, so it connects to the checked address.
        new._create_connection = self._connected  # type: ignore[attr-defined]
        new.connect()
        return new

    def _connected(self, address: tuple[str, int], seconds: float, *_: object) -> socket.socket:
        """Connect to the server or the proxy. Both may have private addresses: the spec or the platform names them."""
        return self.bucket.network.connect(*address, named=True, seconds=seconds)

    def _begin(self, connection: http.client.HTTPConnection, method: str, path: str, own: Mapping[str, str]) -> None:
        target, headers = path, dict(own)
        if self._proxy and self.bucket.scheme == "http":
            target = f"http://{self.bucket.host}{path}"
            headers |= self._proxy.headers
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        # Not among the signed headers, since proxies rewrite it. Without it some stores and proxies change the body.
        connection.putheader("accept-encoding", "identity")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.bucket.authorities:
            context.load_verify_locations(cafile=str(self.bucket.authorities))
        return context

    @cached_property
    def _proxy(self) -> Proxy | None:
        return proxy_of(self.bucket.scheme, self.bucket.host)


def _send(connection: http.client.HTTPConnection, body: Iterable[bytes]) -> bool:
    """Send the body and return True; False if the server stopped reading before. Its answer then gives the reason."""
    for data in body:
        try:
            connection.send(data)
        except OSError:
            return False
    return True


def _is_over(connection: http.client.HTTPConnection) -> bool:
    """Return whether the server has closed an idle connection, whose socket is then readable."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _line() -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        raise LineError(f"{type(error).__name__}: {error}") from None
