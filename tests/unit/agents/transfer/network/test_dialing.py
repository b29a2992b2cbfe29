"""Connections of HTTP clients: checked addresses and the minimum speed."""

import socket
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from stowplan.agents.transfer.network import dialing
from stowplan.agents.transfer.network.dialing import Routes, SlowError, at_least_speed
from tests.recorder import recording


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Let the name server return these addresses in turn. Return the list of the requested names."""
    asked: list[str] = []
    left = iter(answers)

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        found = host if host[0].isdigit() else next(left)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize("address", ["169.254.169.254", "127.0.0.1", "10.0.0.7"])
def test_addresses_are_refused(monkeypatch: pytest.MonkeyPatch, library: ModuleType, address: str) -> None:
    resolving(monkeypatch, address)
    routes = Routes(library, Network(), lambda *_: False)
    with library.Client(transport=routes) as client, pytest.raises(AttemptError, match=address):
        client.get("http://store.example.com/x")


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_second_answer_of_the_name_server_changes_nothing(monkeypatch: pytest.MonkeyPatch, library: ModuleType) -> None:
    """The first address is allowed, but refuses connections; the second is that of the metadata service."""
    asked = resolving(monkeypatch, "127.0.0.1", "169.254.169.254")
    routes = Routes(library, Network(allow_loopback=True), lambda *_: True)
    with library.Client(transport=routes) as client, pytest.raises(library.ConnectError):
        client.get("http://store.example.com:1/x")
    assert asked.count("store.example.com") == 1


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_name_without_addresses(monkeypatch: pytest.MonkeyPatch, library: ModuleType) -> None:
    def resolve(*_: Any, **__: Any) -> None:
        raise socket.gaierror("unknown")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    routes = Routes(library, Network(), lambda *_: True)
    with library.Client(transport=routes) as client, pytest.raises(library.ConnectError):
        client.get("http://store.example.com/x")


@pytest.fixture
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("_no_proxies")
@pytest.mark.parametrize("library", [httpx, httpx2])
def test_a_network_in_no_proxy(monkeypatch: pytest.MonkeyPatch, library: ModuleType) -> None:
    """httpx takes 10.0.0.0/8 for the address 10.0.0.0."""
    with recording() as proxy, recording() as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        routes = Routes(library, Network(allow_loopback=True), lambda *_: True)
        with library.Client(transport=routes) as client:
            client.get(f"{server.url}/by-proxy")
            monkeypatch.setenv("no_proxy", "10.0.0.0/8,127.0.0.0/8")
            client.get(f"{server.url}/direct")
    assert [each.split()[1] for each in proxy.seen] == [f"{server.url}/by-proxy"]
    assert [each.split()[1] for each in server.seen] == ["/direct"]


@pytest.mark.usefixtures("_no_proxies")
@pytest.mark.parametrize("library", [httpx, httpx2])
def test_an_error_names_the_proxy_without_its_password(monkeypatch: pytest.MonkeyPatch, library: ModuleType) -> None:
    monkeypatch.setenv("http_proxy", "http://me:pr0xy-p4ss@127.0.0.1:1")
    routes, named = (
        Routes(library, Network(allow_loopback=True), lambda *_: True),
        r"through the proxy 127\.0\.0\.1:1\)$",
    )
    with library.Client(transport=routes) as client, pytest.raises(library.ConnectError, match=named) as raised:
        client.get("http://store.example.com/x")
    assert "pr0xy" not in str(raised.value)


def test_least_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialing, "SLOW_SECONDS", -1.0)
    with pytest.raises(SlowError):
        list(at_least_speed(iter([b"x"]), 10))
    monkeypatch.setattr(dialing, "SLOW_BYTES", 1)
    assert list(at_least_speed(iter([b"x"] * 25), 10)) == [b"x" * 10, b"x" * 10, b"x" * 5]
