"""Git over HTTP by Git's own `http-backend`, and Git LFS (batch API, basic transfers, verify) over the same port.

Git LFS: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md and basic-transfers.md.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests import http_server
from tests.cluster.certificates import Pair
from tests.http_server import QuietHandler

USERNAME = "robot"
TOKEN = "tk/CANARY+git=K7MD&bPx:Rfi@z"
"""With characters that each encoding writes in its own way."""

_LFS = re.compile(r"/(?P<repository>[^/]+\.git)/info/lfs/(?P<rest>.*)")
_JSON = "application/vnd.git-lfs+json"


@dataclass
class Forge:
    """A running server and its bare repositories."""

    folder: Path
    url: str = ""
    users: dict[str, str] = field(default_factory=lambda: {USERNAME: TOKEN})
    """Passwords by user; without any, everybody may do everything."""
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Path and Authorization of each request."""
    lfs_url: str = ""
    """What the batch API says of where objects are, if not here."""
    query: str = ""
    """Of the URLs of objects, such as a signature."""

    def repository(self, name: str = "model.git", *words: str) -> Path:
        """A new bare repository."""
        path = self.folder / name
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", *words, path], check=True)
        for key in ("http.receivepack", "uploadpack.allowFilter"):
            subprocess.run(["git", "-C", path, "config", key, "true"], check=True)
        return path

    def objects(self, repository: str = "model.git") -> Path:
        """Folder with the objects of Git LFS."""
        path = self.folder / f"{repository}-lfs"
        path.mkdir(exist_ok=True)
        return path

    def allows(self, authorization: str) -> bool:
        pairs = {base64.b64encode(f"{user}:{password}".encode()).decode() for user, password in self.users.items()}
        return not self.users or authorization.removeprefix("Basic ") in pairs


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    forge: Forge

    def _handle(self) -> None:
        body = self._body()
        authorization = self.headers.get("authorization", "")
        self.forge.seen.append((self.path, authorization))
        found = _LFS.fullmatch(urlsplit(self.path).path)
        if not self.forge.allows(authorization):
            self._send(401, b"who are you?", {"WWW-Authenticate": 'Basic realm="forge"'})
        elif found:
            self._lfs(found["repository"], found["rest"], body)
        else:
            self._git(body)

    do_GET = do_POST = do_PUT = _handle

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _lfs(self, repository: str, rest: str, body: bytes) -> None:
        store = self.forge.objects(repository)
        if rest == "objects/batch":
            self._batch(repository, store, json.loads(body))
        elif rest == "verify":
            asked = json.loads(body)
            path = store / asked["oid"]
            self._send(200 if path.exists() and path.stat().st_size == asked["size"] else 404, b"{}")
        elif re.fullmatch("[0-9a-f]{64}", rest) and self.command == "PUT":
            good = hashlib.sha256(body).hexdigest() == rest
            if good:
                part = store / f"{rest}.{threading.get_ident()}"
                part.write_bytes(body)
                part.rename(store / rest)
            self._send(200 if good else 422, b"")
        elif re.fullmatch("[0-9a-f]{64}", rest) and (store / rest).exists():
            self._object((store / rest).read_bytes())
        else:
            self._send(404, b'{"message": "Not found"}', {"Content-Type": _JSON})

    def _object(self, data: bytes) -> None:
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if not found:
            self._send(200, data)
            return
        begin = int(found[1])
        end = min(int(found[2] or len(data) - 1), len(data) - 1)
        self._send(206, data[begin : end + 1], {"Content-Range": f"bytes {begin}-{end}/{len(data)}"})

    def _batch(self, repository: str, store: Path, asked: dict[str, object]) -> None:
        upload = asked["operation"] == "upload"
        base = f"{self.forge.lfs_url or 'http://' + self.headers['host']}/{repository}/info/lfs"
        objects = []
        for each in asked["objects"]:  # type: ignore[attr-defined]
            there = (store / each["oid"]).exists()
            actions: dict[str, object] = {"authenticated": False}
            if upload and not there:
                actions["actions"] = {"upload": {"href": f"{base}/{each['oid']}"}, "verify": {"href": f"{base}/verify"}}
            elif there and not upload:
                actions["actions"] = {"download": {"href": f"{base}/{each['oid']}{self.forge.query}"}}
            elif not upload:
                actions["error"] = {"code": 404, "message": "Object does not exist on the server"}
            objects.append({**each, **actions})
        self._send(200, json.dumps({"transfer": "basic", "objects": objects}).encode(), {"Content-Type": _JSON})

    def _git(self, body: bytes) -> None:
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=self._variables(body), capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
        self._send(int(fields.pop("Status", "200 OK").split()[0]) if head else 500, content, fields)

    def _variables(self, body: bytes) -> dict[str, str]:
        url = urlsplit(self.path)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.forge.folder),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "GIT_PROJECT_ROOT": str(self.forge.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "somebody",
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REMOTE_ADDR": self.client_address[0],
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(folder: Path, pair: Pair | None = None, address: str = "127.0.0.1") -> Iterator[Forge]:
    """A server on an empty folder, with TLS if it gets a certificate."""
    folder.mkdir(exist_ok=True)
    forge = Forge(folder)
    with http_server.serving(type("Handler", (_Handler,), {"forge": forge}), pair, address) as forge.url:
        if pair:
            forge.lfs_url = forge.url
        yield forge
