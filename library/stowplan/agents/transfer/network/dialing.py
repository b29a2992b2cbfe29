"""Restriction of httpx and httpx2 clients to allowed IP addresses and to a minimum speed."""

import importlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from stowplan.agents.attempt.network import Network
from stowplan.agents.transfer.network.proxy import host_of, proxy_url

Named = Callable[[str, int], bool]
"""Function that returns whether the spec or the platform names a host and port. Only such hosts may be private."""

SLOW_SECONDS, SLOW_BYTES = 60.0, 60_000
"""An answer fails if fewer than `SLOW_BYTES` arrive in `SLOW_SECONDS`. Git is set to the same minimum speed."""


class SlowError(OSError):
    """The server is slower than the minimum speed."""


class Routes:
    """Transport of an httpx or httpx2 client, which sends a request directly or through the environment's proxy.

    It connects only to IP addresses that `network` allows. `named` says which hosts may have private addresses; proxies
    may have them too. `library` is the module httpx or httpx2, and `options` are those of its `HTTPTransport`.

    The clients' own choice of a proxy does not know networks in `NO_PROXY`. Neither library has a public way to set the
    network backend, so this sets a private attribute of its pools. A test checks that it exists.
    """

    def __init__(self, library: Any, network: Network, named: Named, **options: Any) -> None:
        self._library, self._network, self._named, self._options = library, network, named, options
        self._transports: dict[str | None, Any] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: Any) -> Any:
        """Send a request and return the answer. Errors name the proxy; AttemptError if no address is allowed."""
        proxy = proxy_url(request.url.scheme, request.url.netloc.decode("ascii"))
        try:
            return self._transport(proxy).handle_request(request)
        except self._library.TransportError as error:
            if proxy:
                error.args = (f"{error} (through the proxy {host_of(proxy)})",)
            raise

    def close(self) -> None:
        for each in self._transports.values():
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _transport(self, proxy: str | None) -> Any:
        with self._lock:
            if proxy not in self._transports:
                self._transports[proxy] = self._new(proxy)
            return self._transports[proxy]

    def _new(self, proxy: str | None) -> Any:
        transport = self._library.HTTPTransport(proxy=proxy, trust_env=False, **self._options)
        own = urlsplit(proxy or "")

        def is_named(host: str, port: int) -> bool:
            return self._named(host, port) or (proxy is not None and host == own.hostname)

        pool = transport._pool
        pool._network_backend = _Backend(pool._network_backend, self._network, is_named)
        return transport


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
