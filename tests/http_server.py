"""HTTP servers of tests, each in a separate thread."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.cluster.certificates import Pair


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients hang up when they are killed, and on answers that they refuse."""


@contextmanager
def serving(
    handler: type[BaseHTTPRequestHandler], pair: Pair | None = None, address: str = "127.0.0.1"
) -> Iterator[str]:
    """Serve on a free port, with TLS if there is a certificate. Gives the URL."""
    server = _Server((address, 0), handler)
    if pair:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"{'https' if pair else 'http'}://{address}:{server.server_port}"
    finally:
        server.shutdown()
        with suppress(OSError):
            server.server_close()
