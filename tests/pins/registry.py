"""A real registry of images, and what tests push to it."""

import base64
import hashlib
import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.absent import skip
from tests.cluster.binaries import Missing, obtain
from tests.cluster.processes import Processes, free_port, listens
from tests.cluster.tools import REGISTRY

USER, PASSWORD = "robot", "pw-CANARY+/=0123"
_HASH = "$2b$04$x330LXUIQzS5OSi9NrDSj.QNB6aSkCsl9Akn.qXc4YmlI6NMJV9pC"
"""The password as `htpasswd -B` writes it."""
INDEX, MANIFEST = "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"


def needed() -> Path:
    """The registry itself. The test is skipped on machines that neither have it nor can build it."""
    found = obtain(REGISTRY)
    if isinstance(found, Missing):
        skip(str(found))
    return found.paths["registry"]


@contextmanager
def serving(
    program: Path,
    folder: Path,
    *,
    private: bool = False,
    tokens: dict[str, str] | None = None,
    address: str = "127.0.0.1",
) -> Iterator[str]:
    """A registry on a folder, for `USER` alone if it is private; gives its host and port.

    `tokens` are the options of one that wants tokens.
    """
    port = free_port()
    config: dict[str, Any] = {
        "version": "0.1",
        "log": {"level": "error", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
        "http": {"addr": f"{address}:{port}", "secret": "of-the-test"},
    }
    if private:
        passwords = folder / "htpasswd"
        passwords.write_text(f"{USER}:{_HASH}\n")
        config["auth"] = {"htpasswd": {"realm": "test", "path": str(passwords)}}
    if tokens:
        config["auth"] = {"token": tokens}
    (folder / "config.yml").write_text(json.dumps(config))
    processes = Processes(folder)
    try:
        server = processes.start(program, ["serve", str(folder / "config.yml")])
        server.await_ready(lambda: listens(port, address), 30)
        yield f"{address}:{port}"
    finally:
        processes.stop()


def push(host: str, name: str, tag: str, *, platforms: tuple[str, ...] = (), text: str = "1") -> str:
    """Push an image, or an index with an image for each platform; gives the digest of what the tag stands for."""
    made = {each: _image(host, name, each, text) for each in platforms or ("linux/amd64",)}
    if not platforms:
        return _put(host, name, tag, made["linux/amd64"], MANIFEST)
    entries = [
        {
            "mediaType": MANIFEST,
            "digest": _put(host, name, _digest(body), body, MANIFEST),
            "size": len(body),
            "platform": dict(zip(("os", "architecture", "variant"), each.split("/"), strict=False)),
        }
        for each, body in made.items()
    ]
    attestation = {**entries[0], "platform": {"os": "unknown", "architecture": "unknown"}}
    body = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [*entries, attestation]}).encode()
    return _put(host, name, tag, body, INDEX)


def _image(host: str, name: str, platform: str, text: str) -> bytes:
    config = json.dumps(
        {"os": platform.split("/", maxsplit=1)[0], "architecture": platform.split("/")[1], "text": text}
    ).encode()
    place = _call(host, "POST", f"/v2/{name}/blobs/uploads/").headers["Location"]
    _call(host, "PUT", f"{place}&digest={_digest(config)}", config, "application/octet-stream")
    layers = {"mediaType": _CONFIG, "digest": _digest(config), "size": len(config)}
    return json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": layers, "layers": []}).encode()


def _put(host: str, name: str, tag: str, body: bytes, kind: str) -> str:
    _call(host, "PUT", f"/v2/{name}/manifests/{tag}", body, kind)
    return _digest(body)


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _call(host: str, method: str, path: str, body: bytes = b"", kind: str = "") -> Any:
    url = path if path.startswith("http") else f"http://{host}{path}"
    request = urllib.request.Request(url, data=body, method=method)  # noqa: S310 - the test's own registry
    request.add_header("Authorization", f"Basic {login()}")
    if kind:
        request.add_header("Content-Type", kind)
    return urllib.request.urlopen(request)  # noqa: S310


def login() -> str:
    """User and password as in a file of credentials."""
    return base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
