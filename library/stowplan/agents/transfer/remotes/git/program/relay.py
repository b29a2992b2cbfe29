"""Local HTTP proxy through which Git must reach the server. It connects only to the host of the repository.

Git follows redirects, and servers may name alternates and bundles on other hosts. The proxy prevents connections to
those hosts and to addresses of the cluster node, and limits the bytes that are received. It does not decrypt TLS, so
Git itself checks the certificate.
"""

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from stowplan.agents.transfer.network.hosts import HostOrigin, Hosts, origin
from stowplan.agents.transfer.network.proxy import Proxy, proxy_of
from stowplan.schema.agents.exit_codes import ExitCode

CONNECT_SECONDS = 10.0
LONGEST_HEAD = 64 << 10
"""Maximum size in bytes of the request line and headers of a request."""

_BLOCK = 1 << 18
_CONNECT = re.compile(rb"CONNECT (\S+):(\d{1,5}) HTTP/1\.[01]\r\n")
_REQUEST = re.compile(rb"([A-Z]+) (http://\S+) (HTTP/1\.[01])\r\n")


@dataclass
class Relay:
    """Proxy that listens at a free port of 127.0.0.1, in its own threads, from its creation until `close`."""

    hosts: Hosts
    network: Network
    failure: AttemptError | None = None
    """First refusal since the last `begin`; None if nothing was refused."""
    _limit: int = 0
    """Number of bytes that may still be received."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: socket.socket = field(default_factory=socket.socket)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._server.bind(("127.0.0.1", 0))
        self._server.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """URL of the proxy, for Git's setting `http.proxy`."""
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def close(self) -> None:
        # `close` alone would leave the thread in `accept`, or let it go on with another socket of the same descriptor.
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._server.close()

    def begin(self, limit: int) -> None:
        """Prepare for the next program: forget the failure, and let the program receive at most `limit` bytes."""
        with self._lock:
            self.failure, self._limit = None, limit

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = _head(client)
            try:
                server, first, answer = self._open(head)
            except AttemptError as failure:
                self.failure = self.failure or failure
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            except (OSError, ValueError) as error:
                text = f"HTTP/1.1 502 Connection refused ({error})\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                client.sendall(text.encode("ascii", "replace"))
                return
            with server:
                client.sendall(answer)
                server.sendall(first)
                other = threading.Thread(target=_pump, args=(client, server, None), daemon=True)
                other.start()
                _pump(server, client, self._take)
                # `close` would not wake the other thread.
                for each in (server, client):
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)
                other.join(1)

    def _open(self, head: bytes) -> tuple[socket.socket, bytes, bytes]:
        """Connect to the host that the client asks for.

        Returns the connection, the first bytes to send to the host, and the first bytes to send to the client. Raises
        AttemptError for a forbidden host.
        """
        if found := _CONNECT.match(head):
            where = origin(f"https://{found[1].decode('ascii')}:{int(found[2])}")
            self._check(where)
            return self._tunnel(where), b"", b"HTTP/1.1 200 Connection established\r\n\r\n"
        if not (found := _REQUEST.match(head)):
            raise OSError("it is no request")
        url = found[2].decode("ascii")
        where = origin(url)
        self._check(where)
        proxy = proxy_of("http", _authority(where))
        server = self._dial(where, proxy)
        target = url if proxy else f"/{url.partition('://')[2].partition('/')[2]}"
        own = {**(proxy.headers if proxy else {}), "connection": "close"}
        lines = [f"{found[1].decode('ascii')} {target} {found[3].decode('ascii')}".encode()]
        # One request per connection: a second request could name another host.
        rest = head[found.end() :].split(b"\r\n\r\n", 1)
        dropped = (b"connection:", b"proxy-connection:", b"proxy-authorization:")
        lines += [each for each in rest[0].split(b"\r\n") if not each.lower().startswith(dropped)]
        lines += [f"{name}: {value}".encode() for name, value in own.items()]
        return server, b"\r\n".join(lines) + b"\r\n\r\n" + rest[1], b""

    def _check(self, where: HostOrigin) -> None:
        """Raise AttemptError (5) unless this is the host of the repository."""
        if not self.hosts.is_own(where):
            message = (
                f"The server leads Git to {where[0]}://{where[1]}:{where[2]}, which is not the host of the repository:"
                " give the address that it leads to, if that is right"
            )
            raise AttemptError(ExitCode.CONFLICT, "OtherHost", message)

    def _tunnel(self, where: HostOrigin) -> socket.socket:
        """Return a connection to a host on which the client can begin TLS."""
        authority = _authority(where)
        proxy = proxy_of("https", authority)
        server = self._dial(where, proxy)
        if proxy:
            headers = "".join(f"{name}: {value}\r\n" for name, value in proxy.headers.items())
            server.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{headers}\r\n".encode())
            answer = _head(server)
            if not re.match(rb"HTTP/1\.[01] 2\d\d ", answer):
                server.close()
                raise _by_proxy(where, proxy, f"it answers {answer[9:12].decode('ascii', 'replace')}")
        return server

    def _dial(self, where: HostOrigin, proxy: Proxy | None) -> socket.socket:
        """Connect to the host, or to `proxy`. Both may have private addresses: the spec or the platform names them."""
        host, port = where[1], where[2]
        if proxy:
            parts = urlsplit(f"//{proxy.host}")
            host, port = parts.hostname or "", parts.port or 80
        try:
            server = self.network.connect(host, port, named=True, seconds=CONNECT_SECONDS)
        except OSError as error:
            if proxy:
                raise _by_proxy(where, proxy, str(error)) from None
            raise
        # Git itself closes connections that are too slow.
        server.settimeout(None)
        return server

    def _take(self, count: int) -> None:
        """Count received bytes. Raises OSError, and sets `failure`, if they are more than the program may receive."""
        with self._lock:
            self._limit -= count
            if self._limit < 0:
                message = "The server sends more than fits, so the transfer was ended"
                self.failure = self.failure or AttemptError(ExitCode.CONFLICT, "TooLarge", message)
                raise OSError(message)


def _by_proxy(where: HostOrigin, proxy: Proxy, said: str) -> AttemptError:
    message = f"{where[1]} cannot be reached through the proxy {proxy.host}: {said}"
    return AttemptError(ExitCode.TRANSIENT, "RequestFailed", message)


def _authority(where: HostOrigin) -> str:
    return f"[{where[1]}]:{where[2]}" if ":" in where[1] else f"{where[1]}:{where[2]}"


def _head(connection: socket.socket) -> bytes:
    """Read until the end of the headers. The result may hold the beginning of the body too. Raises OSError."""
    connection.settimeout(CONNECT_SECONDS)
    head = b""
    while b"\r\n\r\n" not in head:
        part = connection.recv(4096)
        if not part or len(head) > LONGEST_HEAD:
            raise OSError("no head of a request came")
        head += part
    connection.settimeout(None)
    return head


def _pump(source: socket.socket, sink: socket.socket, take: Callable[[int], None] | None) -> None:
    """Copy bytes from `source` to `sink` until the end of the stream or an error on either side.

    `take` gets the number of bytes before they are sent; its OSError ends the copy.
    """
    buffer = memoryview(bytearray(_BLOCK))
    with suppress(OSError):
        while count := source.recv_into(buffer):
            if take:
                take(count)
            sink.sendall(buffer[:count])
    for each in (source, sink):
        # Only this direction is closed: the other direction of the tunnel ends by itself.
        with suppress(OSError):
            each.shutdown(socket.SHUT_RD if each is source else socket.SHUT_WR)
