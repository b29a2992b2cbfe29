"""The probe of helpers' ports, on real sockets."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stowplan.agents.await_group.events import addresses, open_ports

POD_IP = "127.0.0.2"
"""Another address of this machine, like a pod's address in addition to its loopback."""


@contextmanager
def listener(host: str) -> Iterator[int]:
    """A port that accepts connections on one address only."""
    with socket.create_server((host, 0)) as server:
        yield server.getsockname()[1]


def seen(*ports: int) -> frozenset[int]:
    return asyncio.run(open_ports(ports, addresses(POD_IP)))


@pytest.mark.parametrize("host", ["127.0.0.1", POD_IP, "0.0.0.0"])  # noqa: S104 - as servers in pods do
def test_a_server_on_any_address_of_the_pod(host: str) -> None:
    with listener(host) as port:
        assert seen(port) == {port}
    assert seen(port) == frozenset()


def test_a_server_on_another_address_is_not_of_this_pod() -> None:
    with listener("127.0.0.3") as port:
        assert seen(port) == frozenset()


def test_several_ports() -> None:
    with listener("127.0.0.1") as first, listener(POD_IP) as second, listener("127.0.0.3") as third:
        assert seen(first, second, third) == {first, second}
    assert seen() == frozenset()


def test_both_loopback_addresses_are_probed_for_an_ipv6_pod() -> None:
    assert addresses("fd00::1") == ("127.0.0.1", "::1", "fd00::1")
