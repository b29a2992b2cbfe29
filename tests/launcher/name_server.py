"""A DNS server that knows each name only from some time on, and that may remember denials, as a cluster's does."""

import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from tests.launcher.network import within

_PORT = 53
_PAUSE = 0.2
_A, _NO_SUCH_NAME = 1, 3
_HEADER, _ANSWER = struct.Struct("!6H"), struct.Struct("!3HIH4s")


class NameServer:
    """Answers over UDP. `known` has for each name the seconds after the start at which it appears.

    A name that was denied is denied for `denial` seconds more, even if it has appeared.
    """

    def __init__(
        self, address: str, addresses: Mapping[str, str], known: Mapping[str, float], denial: float = 0
    ) -> None:
        self.address = address
        self.denials = 0
        """Number of negative answers so far."""
        self._addresses = addresses
        self._known = known
        self._denial = denial
        self._denied: dict[str, float] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(_PAUSE)
        self._socket.bind((address, _PORT))
        self._ended = threading.Event()
        self._began = time.monotonic()

    def serve(self) -> None:
        while not self._ended.is_set():
            try:
                query, client = self._socket.recvfrom(512)
            except TimeoutError:
                continue
            self._socket.sendto(self._answer(query), client)
        self._socket.close()

    def end(self) -> None:
        self._ended.set()

    def _answer(self, query: bytes) -> bytes:
        number, *_ = _HEADER.unpack_from(query)
        name, end = _name(query)
        question = query[_HEADER.size : end + 4]
        (kind,) = struct.unpack_from("!H", query, end)
        address = self._look(name)
        found = bool(address) and kind == _A
        flags = 0x8580 | (0 if address else _NO_SUCH_NAME)
        answer = _ANSWER.pack(0xC00C, _A, 1, 5, 4, socket.inet_aton(address)) if address and found else b""
        return _HEADER.pack(number, flags, 1, int(found), 0, 0) + question + answer

    def _look(self, name: str) -> str | None:
        now = time.monotonic() - self._began
        address = self._addresses.get(name)
        denied = now < self._denied.get(name, 0.0)
        if address and not denied and now >= self._known.get(name, 0.0):
            return address
        self.denials += 1
        if not denied:
            self._denied[name] = now + self._denial
        return None


def _name(query: bytes) -> tuple[str, int]:
    """The name in a query, and where it ends."""
    labels, place = [], _HEADER.size
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode())
        place += length + 1
    return ".".join(labels).lower(), place + 1


@cache
def can_serve() -> bool:
    """Whether this process may listen on the port of DNS, as root may."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried:
        try:
            tried.bind(("127.255.0.1", _PORT))
        except OSError:
            return False
    return True


@contextmanager
def serving(
    address: str,
    addresses: Mapping[str, str],
    known: Mapping[str, float] | None = None,
    denial: float = 0,
    network: Path | None = None,
) -> Iterator[NameServer]:
    """A name server in a thread, until the end of the context. `network` is one of its own, see `network`."""
    make = partial(NameServer, address, addresses, known or {}, denial)
    server = within(network, make) if network else make()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()
