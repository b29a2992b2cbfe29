"""Probe whether helpers listen, by a TCP connect to each of their ports."""

import asyncio
import contextlib
from collections.abc import Sequence

CONNECT_SECONDS = 2.0
"""Seconds after which a connection attempt is given up."""


def addresses(pod_ip: str) -> tuple[str, ...]:
    """Return the addresses on which a helper may listen: loopback and the pod's own address."""
    loopback = ("127.0.0.1", "::1") if ":" in pod_ip else ("127.0.0.1",)
    return (*loopback, pod_ip)


async def open_ports(ports: Sequence[int], hosts: Sequence[str]) -> frozenset[int]:
    """Return those of `ports` on which at least one of the addresses `hosts` accepts a connection.

    Each connection is closed at once.
    """
    answers = await asyncio.gather(*(_is_open(port, hosts) for port in ports))
    return frozenset(port for port, is_open in zip(ports, answers, strict=True) if is_open)


async def _is_open(port: int, hosts: Sequence[str]) -> bool:
    for host in hosts:
        # A TimeoutError is an OSError.
        with contextlib.suppress(OSError):
            async with asyncio.timeout(CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return True
    return False
