"""Addresses that agents may connect to."""

import socket
from typing import Any

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from stowplan.schema.agents.exit_codes import ExitCode

NEVER = (
    "169.254.169.254",
    "169.254.170.23",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fe80::1",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "224.0.0.1",
)
LOOPBACK = ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0", "::", "2130706433", "0x7f.1", "localhost")
PRIVATE = ("10.0.0.7", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:10.0.0.7", "198.18.0.1")
PUBLIC = ("52.216.1.1", "2600:1f18::1", "64:ff9b::34d8:101")


@pytest.mark.parametrize("host", NEVER)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("loopback", [True, False])
def test_addresses_of_the_node_are_never_used(host: str, *, named: bool, loopback: bool) -> None:
    with pytest.raises(AttemptError, match=r"metadata|multicast"):
        Network(allow_loopback=loopback).addresses(host, 80, named=named)


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_needs_the_option(host: str) -> None:
    with pytest.raises(AttemptError, match="--allow-loopback") as refused:
        Network().addresses(host, 80, named=True)
    assert (refused.value.code, refused.value.reason) == (ExitCode.BAD_SPEC, "RefusedAddress")
    assert Network(allow_loopback=True).addresses(host, 80, named=False)


@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_are_for_named_hosts(host: str) -> None:
    assert Network().addresses(host, 80, named=True)
    with pytest.raises(AttemptError, match="private") as refused:
        Network().addresses(host, 80, named=False)
    assert refused.value.code is ExitCode.CONFLICT


@pytest.mark.parametrize("host", PUBLIC)
def test_public_addresses_are_for_all(host: str) -> None:
    assert Network().addresses(host, 80, named=False)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """Each look-up of a name gets the next answer."""
    given = iter(answers)
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host != "store.test":
            return real(host, port, *rest, **more)
        return [answer for each in next(given) for answer in real(each, port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_the_checked_address_is_the_one_that_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name server is asked once, since its second answer may be another address."""
    resolving(monkeypatch, ["127.0.0.1"])
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with Network(allow_loopback=True).connect("store.test", port, named=True, seconds=5) as connection:
            assert connection.getpeername() == ("127.0.0.1", port)


def test_refused_addresses_of_a_name_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["169.254.169.254", "10.0.0.7", "52.216.1.1", "fe80::1"])
    assert Network().addresses("store.test", 80, named=False) == ["52.216.1.1"]


def test_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.9", "127.0.0.1"])
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with Network(allow_loopback=True).connect("store.test", port, named=True, seconds=5) as connection:
            assert connection.getpeername()[0] == "127.0.0.1"


def test_name_without_an_address() -> None:
    with pytest.raises(OSError, match=r"resol|known|Name"):
        Network().addresses("store.invalid", 80, named=True)
