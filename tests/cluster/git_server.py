"""Git repositories served over HTTP on loopback by git's own `http-backend`."""

import os
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


@contextmanager
def serving(folder: Path, token: str = "") -> Iterator[str]:
    """Serve the bare repositories in `folder` for reading; gives the URL that their names are appended to.

    With a `token`, every request needs it as its password, and may then push too.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, folder, token))
    thread = threading.Thread(target=server.serve_forever, name="git-server")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Speaks CGI (RFC 3875) with `git http-backend`, which the standard library is about to lose."""

    def __init__(self, folder: Path, token: str, *arguments: object) -> None:
        self._folder = folder
        self._token = token
        super().__init__(*arguments)  # type: ignore[arg-type]  # what socketserver passes

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *arguments: object) -> None:
        """Say nothing: Argo CD asks every few seconds."""

    def _allowed(self) -> bool:
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        password = b64decode(given).decode().partition(":")[2] if kind == "Basic" else ""
        return password == self._token

    def _answer(self, body: bytes) -> None:
        if not self._allowed():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=self._environment(body), capture_output=True, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send_response(status)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _environment(self, body: bytes) -> dict[str, str]:
        url = urlsplit(self.path)
        return {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REMOTE_ADDR": self.client_address[0],
            **({"REMOTE_USER": "robot"} if self._token else {}),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
