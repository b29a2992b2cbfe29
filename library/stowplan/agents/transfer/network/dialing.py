"""Restriction of httpx and httpx2 clients to allowed IP addresses and to a minimum speed."""

import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.request import getproxies

from stowplan.agents.attempt.network import Network

Named = Callable[[str, int], bool]
"""Function that returns whether the spec or the platform names a host and port. Only such hosts may be private."""

SLOW_SECONDS, SLOW_BYTES = 60.0, 60_000
"""An answer fails if fewer than `SLOW_BYTES` arrive in `SLOW_SECONDS`. Git is set to the same minimum speed."""


class SlowError(OSError):
    """The server is slower than the minimum speed."""


def pin(client: Any, network: Network, named: Named) -> None:
    """Let an httpx or httpx2 client connect only to IP addresses that `network` allows.

    `named` says which hosts may have private addresses. Proxies from environment variables may have them too.

    Neither library has a public way to set the network backend of a client, so this sets a private attribute of its
    pools. A test checks that it exists.
    """
    proxies = {url.partition("://")[2].rpartition("@")[2].partition("/")[0] for url in getproxies().values()}

    def is_named(host: str, port: int) -> bool:
        return named(host, port) or host in proxies or f"{host}:{port}" in proxies

    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:
            pool = transport._pool
            pool._network_backend = _Backend(pool._network_backend, network, is_named)


class _Backend:
    """Network backend (`NetworkBackend` of httpcore and httpcore2) that checks addresses before it connects."""

    def __init__(self, inner: Any, network: Network, named: Named) -> None:
        self._inner, self._network, self._named = inner, network, named

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **rest: Any) -> Any:
        """Connect to the first address of the host that answers. Raises AttemptError if no address is allowed."""
        try:
            addresses = self._network.addresses(host, port, named=self._named(host, port))
        except OSError as error:
            library = importlib.import_module(type(self._inner).__module__.partition(".")[0])
            raise library.ConnectError(str(error)) from None
        for each in addresses[:-1]:
            try:
                return self._inner.connect_tcp(each, port, timeout, **rest)
            except Exception:  # noqa: S112 - the errors of two libraries; the last address tells
                continue
        return self._inner.connect_tcp(addresses[-1], port, timeout, **rest)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def at_least_speed(pieces: Iterable[bytes], chunk: int) -> Iterator[bytes]:
    """Yield a body in chunks of at least `chunk` bytes, except for the last one.

    `pieces` yields the bytes of each read from the connection. Raises SlowError if fewer than `SLOW_BYTES` arrive in
    `SLOW_SECONDS`.
    """
    begin, count, held, size = time.monotonic(), 0, [], 0
    for each in pieces:
        held.append(each)
        size += len(each)
        count += len(each)
        now = time.monotonic()
        if now - begin > SLOW_SECONDS:
            if count < SLOW_BYTES:
                raise SlowError(f"{count} bytes came in {now - begin:.0f} seconds, which is too slow")
            begin, count = now, 0
        if size >= chunk:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
