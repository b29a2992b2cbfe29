"""Connections to a server, directly and through a proxy."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from stowplan.agents.transfer.network.proxy import proxy_of
from stowplan.agents.transfer.remotes.s3.protocol import connections as connections_module
from stowplan.agents.transfer.remotes.s3.protocol.connections import Connections, LineError
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import Bucket
from stowplan.agents.transfer.remotes.s3.protocol.pace import Pace
from stowplan.schema.agents.exit_codes import ExitCode

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def answering(*answers: bytes, pause: float = 0) -> Iterator[tuple[str, list[bytes]]]:
    """A server that sends each answer to a request, `pause` seconds later, and closes the last connection.

    Gives its host and the requests.
    """
    requests: list[bytes] = []

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            for answer in answers:
                data = b""
                while b"\r\n\r\n" not in data:
                    data += connection.recv(65536)
                requests.append(data)
                time.sleep(pause)
                connection.sendall(answer)

    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}", requests
    thread.join(10)


def bucket(server: str) -> Bucket:
    return Bucket("b", server, "us-east-1", path_style=True, credentials=None, network=Network(allow_loopback=True))


def asked(connections: Connections, path: str) -> bytes:
    with connections.request("GET", path, {"host": "h"}, (), pace=Pace(1000)) as incoming:
        return incoming.read(100)[0]


def test_connection_is_used_again() -> None:
    with answering(*[b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"] * 3) as (host, requests):
        connections = Connections(bucket(f"http://{host}"))
        assert [asked(connections, path) for path in ("/1", "/2", "/3")] == [b"ok"] * 3
        connections.close()
    assert [each.split(b" ")[1] for each in requests] == [b"/1", b"/2", b"/3"]


def test_connection_with_an_answer_that_was_not_read_is_closed() -> None:
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok") as (host, _):
        connections = Connections(bucket(f"http://{host}"))
        with connections.request("GET", "/", {}, (), pace=Pace(1000)) as incoming:
            assert incoming.status == 200
        assert connections._idle == []


def test_a_request_that_may_take_longer_is_not_ended_by_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a large multipart upload takes minutes, in which some stores send nothing."""
    monkeypatch.setattr(connections_module, "SILENCE_SECONDS", 0.3)
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    with answering(answer, answer, pause=0.8) as (host, _):
        connections = Connections(bucket(f"http://{host}"))
        with connections.request("POST", "/", {}, (), pace=Pace(1000, 600.0)) as incoming:
            assert incoming.read(100) == (b"ok", True)
        with pytest.raises(LineError, match="timed out"):
            asked(connections, "/next")


def test_body_that_ends_early() -> None:
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok") as (host, _):
        buffer = memoryview(bytearray(9))
        with Connections(bucket(f"http://{host}")).request("GET", "/", {}, (), pace=Pace(1000)) as incoming:
            assert incoming.fill(buffer) == 2
            with pytest.raises(LineError, match="7 more expected"):
                incoming.fill(buffer)


def test_answer_that_comes_before_the_body_was_sent() -> None:
    """For example for a too large upload: the server's answer counts, not its closed connection."""
    with answering(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno") as (host, _):
        chunks = (b"x" * (1 << 20) for _ in range(64))
        headers = {"content-length": str(64 << 20)}
        with Connections(bucket(f"http://{host}")).request("PUT", "/", headers, chunks, pace=Pace(1000)) as incoming:
            assert (incoming.status, incoming.read(100)) == (413, (b"no", True))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_only_the_proxy_gets_its_password(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    refused = b"HTTP/1.1 407 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    with answering(refused) as (host, requests):
        monkeypatch.setenv(f"{scheme}_proxy", f"http://me:p%40ss@{host}")
        connections = Connections(bucket(f"{scheme}://s3.test"))
        if scheme == "https":
            with pytest.raises(LineError, match="407"):
                asked(connections, "/b/key")
        else:
            asked(connections, "/b/key")
    first = {"http": b"GET http://s3.test/b/key", "https": b"CONNECT s3.test:443"}[scheme]
    assert requests[0].startswith(first)
    assert b"basic bwu6cebzcw==" in requests[0].lower()


@pytest.mark.parametrize(
    ("variables", "host"),
    [
        ({}, None),
        ({"http_proxy": "http://p:1"}, "p:1"),
        ({"http_proxy": "p:1"}, "p:1"),
        ({"https_proxy": "http://p:1"}, None),
        ({"all_proxy": "http://p:1"}, "p:1"),
        ({"http_proxy": "http://p:1", "no_proxy": ".test"}, None),
        ({"http_proxy": "http://p:1", "no_proxy": "*"}, None),
        ({"http_proxy": "http://p:1", "no_proxy": "other.test"}, "p:1"),
    ],
)
def test_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], host: str | None) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = proxy_of("http", "s3.test:9000")
    assert (found and found.host) == host


@pytest.mark.parametrize(
    ("listed", "host", "direct"),
    [
        ("10.0.0.0/8", "10.1.2.3:9000", True),
        ("192.168.0.0/16 10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "ten.example.com", False),
        ("10.1.2.3", "10.1.2.3:9000", True),
        ("10.1.2.3:9000", "10.1.2.3:9000", True),
        ("10.1.2.3:9001", "10.1.2.3:9000", False),
        ("fd00::/8", "[fd00::7]:9000", True),
        ("[fd00::]/8", "[fd00::7]", True),
        ("fd00::7", "[FD00:0::7]:9000", True),
        ("[fd00::7]:80", "[fd00::7]", True),
        ("[fd00::7]:81", "[fd00::7]", False),
        (".example.com", "minio.example.com:9000", True),
        (".example.com", "example.com", True),
        ("*.example.com", "minio.example.com", True),
        ("example.com", "minio.example.com", True),
        ("example.com", "notexample.com", False),
        ("Minio.Example.com", "minio.EXAMPLE.com.", True),
        ("minio.example.com:9000", "minio.example.com:9000", True),
        ("minio.example.com:80", "minio.example.com", True),
        ("minio.example.com:443", "minio.example.com", False),
        ("a, *", "minio.example.com", True),
        (" , ,", "minio.example.com", False),
        ("10.0.0.0/99", "10.0.0.0", False),
    ],
)
def test_what_needs_no_proxy(monkeypatch: pytest.MonkeyPatch, listed: str, host: str, *, direct: bool) -> None:
    monkeypatch.setenv("http_proxy", "http://p:1")
    monkeypatch.setenv("no_proxy", listed)
    assert (proxy_of("http", host) is None) is direct


def test_proxy_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://me:secret@p:1")
    with pytest.raises(AttemptError, match="socks5") as caught:
        proxy_of("http", "s3.test")
    assert caught.value.code is ExitCode.BAD_SPEC
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_server_at_an_address_of_the_pod_is_refused(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        own = Bucket("b", f"{scheme}://localhost:{server.getsockname()[1]}", "r", path_style=True, credentials=None)
        with pytest.raises(AttemptError, match="--allow-loopback"):
            asked(Connections(own), "/")
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
