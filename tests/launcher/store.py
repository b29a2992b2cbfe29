"""Keys and values over HTTP, at which processes register until all have started.

It replaces the store of Paddle's launcher and of Gloo (`PUT` and `GET` by prefix), and the etcd of elastic jobs.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from tests.launcher.wire import Wire, check, split


class Store(ThreadingTCPServer):
    """Its values, and a condition that changes with them."""

    allow_reuse_address = True
    daemon_threads = False  # answers are finished before it closes

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, _Handler)
        self.values: dict[str, Any] = {}
        self.changed = threading.Condition()

    def below(self, prefix: str) -> dict[str, Any]:
        return {key: value for key, value in self.values.items() if key.startswith(prefix)}


class _Handler(StreamRequestHandler):
    """Answers one request with the values below its path."""

    server: Store

    def handle(self) -> None:
        line, value = _message(self.rfile)
        if not line:  # somebody only looked whether the port is open
            return
        method, key, _ = line.split()
        with self.server.changed:
            if method == "PUT":
                self.server.values[key] = value
            elif method == "DELETE":
                self.server.values.pop(key, None)
            self.server.changed.notify_all()
            found = self.server.below(key)
        self.wfile.write(_bytes("HTTP/1.0 200 OK", found))


@contextmanager
def serving(address: tuple[str, int]) -> Iterator[Store]:
    """A store in a thread of this process."""
    with Store(address) as store:
        thread = threading.Thread(target=store.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield store
        finally:
            store.shutdown()
            thread.join()


@contextmanager
def hosting(wire: Wire, endpoint: str, scope: str, size: int) -> Iterator[None]:
    """A store on the own endpoint, which stays until so many have left `scope`."""
    wire.check_own(endpoint)
    with serving(split(endpoint)) as store:
        yield
        with store.changed:
            while len(store.below(f"{scope}/left/")) < size:
                store.changed.wait(wire.left(f"not all left: {sorted(store.values)}"))


def put(wire: Wire, endpoint: str, key: str, value: Any) -> None:
    _ask(wire, endpoint, "PUT", key, value)


def delete(wire: Wire, endpoint: str, key: str) -> None:
    _ask(wire, endpoint, "DELETE", key)


def together(wire: Wire, endpoint: str, prefix: str, size: int) -> dict[str, Any]:
    """What stands below a prefix once there are so many."""
    while len(found := _ask(wire, endpoint, "GET", prefix)) < size:
        wire.pause(f"{len(found)} of {size} at {endpoint}")
    check(len(found) == size, f"{len(found)} at {endpoint} instead of {size}")
    return found


def meet(wire: Wire, endpoint: str, scope: str, *, rank: int, size: int, word: Any) -> list[Any]:
    """Gives a word, and gets those of all ranks, as in an all-gather."""
    put(wire, endpoint, f"{scope}/here/{rank}", word)
    found = together(wire, endpoint, f"{scope}/here/", size)
    put(wire, endpoint, f"{scope}/left/{rank}", word)
    ranks = {int(key.rpartition("/")[2]): value for key, value in found.items()}
    check(sorted(ranks) == list(range(size)), f"ranks {sorted(ranks)} at {endpoint}")
    return [ranks[each] for each in range(size)]


def _ask(wire: Wire, endpoint: str, method: str, key: str, value: Any = None) -> dict[str, Any]:
    """One request; tried until somebody listens."""
    with wire.connect(endpoint) as peer, peer.makefile("rb") as answer:
        peer.sendall(_bytes(f"{method} {key} HTTP/1.0", value))
        status, found = _message(answer)
    check(status.endswith("200 OK"), f"{endpoint} answers {status}")
    return dict(found)


def _bytes(first: str, value: Any) -> bytes:
    """A request or a response: HTTP's modules would take longer to import than all the rest runs."""
    body = json.dumps(value).encode()
    return f"{first}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _message(stream: BufferedIOBase) -> tuple[str, Any]:
    """First line and body of what `_bytes` made; nothing where the stream has ended."""
    first = stream.readline().decode().strip()
    length = 0
    while header := stream.readline().strip():
        length = int(header.partition(b":")[2])
    return first, json.loads(stream.read(length) or b"null")
