"""HTTP client for a Hub and the hosts to which it redirects, used by this program and by huggingface_hub."""

import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.dialing import Routes, SlowError, at_least_speed
from stowplan.agents.transfer.network.hosts import MOST_REDIRECTS
from stowplan.agents.transfer.remotes.huggingface.hub.settings import HuggingFaceSettings
from stowplan.schema.agents.exit_codes import ExitCode

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Maximum wait in seconds for the next bytes of an answer."""

COMMIT_SECONDS = 600.0
"""Maximum wait in seconds for the answer to a commit: the Hub first stores all files of the commit in Git."""

MOST_ANSWER = 16 << 20
"""Maximum bytes of an answer that is not the content of a file, such as a page of a listing with 1,000 entries."""

MOST_BYTES = "stowplan_most_bytes"
"""Key in the `extensions` of a request whose value replaces `MOST_ANSWER` for the answer to it."""

CAS_HEADER = "x-xet-cas-url"
"""Header with the address of the Xet store (`huggingface_hub.constants.HUGGINGFACE_HEADER_X_XET_ENDPOINT`)."""

_LOGGERS = ("huggingface_hub", "py.warnings")

Sent = Callable[[int], None]
"""Function that gets the number of bytes of each chunk that was sent to a storage."""


def connect(settings: HuggingFaceSettings, stop: Stop, sent: Sent) -> httpx2.Client:
    """Return a client that sends credentials only to the Hub, and connects only to allowed hosts.

    Any thread may use the client, which must be closed. `sent` gets the number of bytes of each chunk of a PUT request
    once it is sent. A request may raise StoppedError, and AttemptError (exit code 5) for a redirect to a forbidden host
    or an answer that is compressed or too large.
    """
    hosts, network, connections = settings.hosts, settings.common.network, settings.common.streams + 2
    verify = ssl.create_default_context()
    if authorities := settings.common.config.ca_bundle:
        verify.load_verify_locations(cafile=authorities)

    def guard(request: httpx2.Request) -> None:
        stop.check()
        # The server chose this URL, by a redirect or as the next page. URLs of storages are signed.
        if not hosts.is_own(hosts.check(str(request.url), "An answer of the Hub")):
            request.headers.pop("authorization", None)
        # Without compression the counted bytes equal the stored bytes.
        request.headers["accept-encoding"] = "identity"
        if request.method in ("PUT", "POST"):
            request.stream = _Watched(request.stream, stop, sent if request.method == "PUT" else lambda _: None)
        limits = request.extensions.setdefault("timeout", {})
        # Some calls of huggingface_hub set no timeout.
        limits["connect"] = limits.get("connect") or CONNECT_SECONDS
        limits["write"] = limits.get("write") or SILENCE_SECONDS
        limits["read"] = COMMIT_SECONDS if "/commit/" in request.url.path else limits.get("read") or SILENCE_SECONDS

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            message = "The server compresses its answer, although it was asked not to"
            raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message)
        if store := response.headers.get(CAS_HEADER):
            # The Xet library, which is not written in Python, connects to this address by itself.
            _, name, port = hosts.check(store, "The Hub's address of the Xet store")
            network.addresses(name, port, named=hosts.is_named(name, port))
        most = response.request.extensions.get(MOST_BYTES, MOST_ANSWER)
        response.stream = _Bounded(response.stream, most)

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx2.Client(
        transport=Routes(httpx2, network, hosts.is_named, verify=verify, limits=limits),  # type: ignore[arg-type]
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        event_hooks={"request": [guard], "response": [bound]},
    )


class _Watched(httpx2.SyncByteStream):
    """Request body that reports the size of each sent chunk, and raises StoppedError if the work must stop."""

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


class _Bounded(httpx2.SyncByteStream):
    """Answer body with a maximum size and a minimum speed."""

    def __init__(self, inner: Any, most: int) -> None:
        self._inner, self._most = inner, most

    def __iter__(self) -> Iterator[bytes]:
        left = self._most
        try:
            for data in at_least_speed(self._inner, 1):
                left -= len(data)
                if left < 0:
                    message = f"An answer has more than the {self._most} bytes that it may have"
                    raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message)
                yield data
        except SlowError as error:
            raise httpx2.ReadTimeout(str(error)) from None

    def close(self) -> None:
        self._inner.close()


class _Forward(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning(" ".join(record.getMessage().split()), library=record.name.partition(".")[0])


@contextmanager
def forwarded(log: Log) -> Iterator[None]:
    """During the block, forward warnings of huggingface_hub and of Python's module `warnings` to the agent's log."""
    handler = _Forward(log)
    logging.captureWarnings(capture=True)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
