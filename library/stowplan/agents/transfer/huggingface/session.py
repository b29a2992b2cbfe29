"""The connections to a Hub and to whom it sends us, for our own requests and those of huggingface_hub."""

import ssl
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

from stowplan.agents.attempt.stop import Stop

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Longest wait for the next bytes of an answer."""

COMMIT_SECONDS = 600.0
"""The same for a commit: the Hub answers when all files of it are in Git."""

Sent = Callable[[int], None]


def connect(endpoint: str, authorities: str | None, connections: int, stop: Stop, sent: Sent) -> httpx2.Client:
    """A client that sends credentials to the Hub alone; any thread may use it.

    `sent` gets the number of bytes of each chunk that goes to a storage. A request ends with StoppedError.
    """
    verify = ssl.create_default_context()
    if authorities:
        verify.load_verify_locations(cafile=authorities)
    own = origin(httpx2.URL(endpoint))

    def guard(request: httpx2.Request) -> None:
        stop.check()
        if origin(request.url) != own:
            # Where an answer leads, or the next page of a listing, is the server's word. Storage has signed URLs.
            request.headers.pop("authorization", None)
        if request.method in ("PUT", "POST"):
            request.stream = _Watched(request.stream, stop, sent if request.method == "PUT" else _nothing)
        limits = request.extensions.setdefault("timeout", {})
        # Some calls of huggingface_hub wait without an end.
        limits["connect"] = limits.get("connect") or CONNECT_SECONDS
        limits["write"] = limits.get("write") or SILENCE_SECONDS
        limits["read"] = COMMIT_SECONDS if "/commit/" in request.url.path else limits.get("read") or SILENCE_SECONDS

    return httpx2.Client(
        verify=verify,
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        follow_redirects=True,
        event_hooks={"request": [guard]},
    )


def origin(url: httpx2.URL) -> tuple[str, str, int]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _nothing(_: int) -> None:
    return


class _Watched(httpx2.SyncByteStream):
    """The body of a request that ends when the work does."""

    def __init__(self, inner: Any, stop: Stop, sent: Sent) -> None:
        self._inner, self._stop, self._sent = inner, stop, sent

    def __iter__(self) -> Iterator[bytes]:
        for data in self._inner:
            self._stop.check()
            yield data
            self._sent(len(data))

    def close(self) -> None:
        if hasattr(self._inner, "close"):
            self._inner.close()
