"""The proxy through which Git reaches its repository's host, and no other host."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from stowplan.agents.attempt.network import Network
from stowplan.agents.transfer.network.hosts import Hosts
from stowplan.agents.transfer.remotes.git.program.relay import Relay
from tests.unit.agents.transfer.remotes.s3.protocol.test_connections import VARIABLES

BODY = b"x" * 5000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def relay(server: socket.socket, scheme: str = "http", *, loopback: bool = True) -> Relay:
    return Relay(Hosts((scheme, "127.0.0.1", server.getsockname()[1])), Network(allow_loopback=loopback))


def asked(running: Relay, head: bytes, server: socket.socket | None = None) -> bytes:
    """Return the response. A given server answers once."""
    with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0), 10) as client:
        client.sendall(head)
        if server:
            accepted, _ = server.accept()
            with accepted:
                accepted.recv(4096)
                accepted.sendall(BODY)
        found = b""
        while part := client.recv(4096):
            found += part
        return found


@pytest.mark.parametrize(
    "head",
    [
        b"CONNECT evil.example.com:443 HTTP/1.1\r\n\r\n",
        b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n",
        b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
        b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:1/x HTTP/1.1\r\n\r\n",
    ],
)
def test_other_hosts_are_refused(server: socket.socket, head: bytes) -> None:
    running = relay(server)
    running.begin(1 << 20)
    assert asked(running, head).startswith(b"HTTP/1.1 403 ")
    assert running.failure
    assert running.failure.reason == "OtherHost"
    running.close()


@pytest.mark.parametrize(
    "head", [b"nonsense\r\n\r\n", b"CONNECT x:99999 HTTP/1.1\r\n\r\n", b"GET http://\xff/x HTTP/1.1\r\n\r\n"]
)
def test_invalid_requests_are_refused(server: socket.socket, head: bytes) -> None:
    running = relay(server)
    running.begin(1 << 20)
    assert asked(running, head).startswith((b"HTTP/1.1 502 ", b"HTTP/1.1 403 "))
    running.close()


def test_addresses_of_the_pod_are_refused(server: socket.socket) -> None:
    running = relay(server, loopback=False)
    running.begin(1 << 20)
    head = b"GET http://127.0.0.1:%d/x HTTP/1.1\r\n\r\n" % server.getsockname()[1]
    assert asked(running, head).startswith(b"HTTP/1.1 403 ")
    assert running.failure
    assert running.failure.reason == "RefusedAddress"
    running.close()


@pytest.mark.parametrize(("limit", "whole"), [(5000, True), (100, False)])
def test_response_is_limited_to_the_given_size(server: socket.socket, limit: int, whole: bool) -> None:  # noqa: FBT001
    running = relay(server)
    running.begin(limit)
    head = b"GET http://127.0.0.1:%d/x HTTP/1.1\r\nHost: x\r\n\r\n" % server.getsockname()[1]
    assert (asked(running, head, server) == BODY) is whole
    assert (running.failure is None) is whole
    running.close()


def test_tunnel(server: socket.socket) -> None:
    running = relay(server, "https")
    running.begin(1 << 20)
    head = b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % server.getsockname()[1]
    with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0), 10) as client:
        client.sendall(head)
        accepted, _ = server.accept()
        with accepted:
            assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
            client.sendall(b"hello")
            assert accepted.recv(4096) == b"hello"
    running.close()
