"""The agents' client over real TLS, with a server whose certificate authority is replaced."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import Answer, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import job
from tests.agents.accounts import account_directory
from tests.cluster.certificates import Authority

JOB = {"metadata": {"name": "worker-abcdefgh"}}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(JOB).encode())

    def log_message(self, *_: object) -> None:
        pass


class _Server(HTTPServer):
    def handle_error(self, *_: object) -> None:
        """Callers that do not trust the server hang up."""


@contextmanager
def serving(authority: Authority) -> Iterator[str]:
    """A server with a certificate of this authority."""
    pair = authority.issue("kube-apiserver")
    server = _Server(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_authority_that_replaces_another_of_the_same_name(tmp_path: Path) -> None:
    old, new = (Authority.create(tmp_path / name) for name in ("old", "new"))
    account = account_directory(tmp_path / "account", token="token", authorities=old.certificate)

    async def ask(url: str) -> list[Answer]:
        place = job("ml", "worker-abcdefgh")
        async with Client(Access(url, account / "token", account / "ca.crt"), "test") as client:
            before = await client.get(place)
            account_directory(account, token="token", authorities=new.certificate)
            return [before, await client.get(place), await client.get(place)]

    with serving(new) as url:
        before, between, after = asyncio.run(ask(url))
    assert isinstance(before, Unreachable)
    assert "CERTIFICATE_VERIFY_FAILED" in before.message
    assert isinstance(between, Unreachable)
    assert after == JOB
