"""Keys and values over HTTP: where processes register until all are there.

Stands for the store of Paddle's launcher and of Gloo (`PUT` and `GET` by prefix), and for the etcd of elastic jobs.
"""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from tests.launcher.wire import Wire, check, split


class Store(ThreadingHTTPServer):
    """Its values, and a condition that changes with them."""

    daemon_threads = False  # answers are finished before it closes

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, _Handler)
        self.values: dict[str, Any] = {}
        self.changed = threading.Condition()

    def server_bind(self) -> None:
        """Without the look for the name of the address, which the base class does."""
        TCPServer.server_bind(self)

    def below(self, prefix: str) -> dict[str, Any]:
        return {key: value for key, value in self.values.items() if key.startswith(prefix)}


class _Handler(BaseHTTPRequestHandler):
    server: Store

    def do_PUT(self) -> None:
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.changed:
            self.server.values[self.path] = value
            self.server.changed.notify_all()
        self._answer({})

    def do_GET(self) -> None:
        with self.server.changed:
            found = self.server.below(self.path)
        self._answer(found)

    def do_DELETE(self) -> None:
        with self.server.changed:
            self.server.values.pop(self.path, None)
        self._answer({})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - a name of the base class
        """Says nothing."""

    def _answer(self, found: dict[str, Any]) -> None:
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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
    connection = http.client.HTTPConnection(*split(endpoint))
    connection.sock = wire.connect(endpoint)
    try:
        connection.request(method, key, json.dumps(value))
        found: dict[str, Any] = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return found
