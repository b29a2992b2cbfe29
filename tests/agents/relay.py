"""A TCP relay in front of a server. It can be stopped and started again."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Relay:
    """Passes bytes both ways between its clients and one server, and knows nothing of what they mean."""

    target: tuple[str, int]
    port: int = 0
    _listener: socket.socket | None = None
    _open: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Takes connections, always on the same port."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Ends all connections; the next ones are taken."""
        with self._lock:
            ended, self._open = self._open, []
        for each in ended:
            _close(each)

    def stop(self) -> None:
        """Ends all connections and refuses the next ones."""
        if self._listener:
            _close(self._listener)
        self.cut()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self.target)
                with self._lock:
                    self._open += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    _close(source)
    _close(sink)


def _close(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


@contextmanager
def relay(server: str) -> Iterator[Relay]:
    """A relay in front of the server at this URL."""
    address = urlsplit(server)
    running = Relay((str(address.hostname), int(address.port or 443)))
    running.start()
    try:
        yield running
    finally:
        running.stop()
