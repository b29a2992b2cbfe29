"""A server of tokens, as the one that Docker Hub, GitHub and GitLab have beside their registries.

https://distribution.github.io/distribution/spec/auth/token/
"""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.http_server import QuietHandler
from tests.http_server import serving as serving_http

_ISSUER, _SERVICE, _KEY = "tests", "registry.example.com", "key-1"
_BYTES = 32
"""Of a coordinate of the curve."""


@contextmanager
def serving(folder: Path, login: str) -> Iterator[dict[str, str]]:
    """Serve tokens; gives the options of a registry that trusts them.

    Without a password a token is for names below `open/`, with that of `login` for all.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "jwks.json").write_text(json.dumps({"keys": [_public(key)]}))

    class Tokens(QuietHandler):
        """Answers with a token for the scope that is asked for."""

        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            kind, name, actions = asked["scope"][0].split(":")
            given = self.headers.get("Authorization")
            if given not in (None, f"Basic {login}") or asked["service"] != [_SERVICE]:
                self.send_error(401)
                return
            allowed = given or name.startswith("open/")
            access = [{"type": kind, "name": name, "actions": actions.split(",")}] if allowed else []
            content = json.dumps({"token": _signed(key, access)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with serving_http(Tokens) as url:
        yield {
            "realm": f"{url}/token",
            "service": _SERVICE,
            "issuer": _ISSUER,
            "jwks": str(folder / "jwks.json"),
        }


def _public(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    x, y = (_text(each.to_bytes(_BYTES)) for each in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "kid": _KEY, "alg": "ES256", "use": "sig", "x": x, "y": y}


def _signed(key: ec.EllipticCurvePrivateKey, access: list[dict[str, Any]]) -> str:
    now = int(time.time())
    claims = {"iss": _ISSUER, "sub": "", "aud": _SERVICE, "nbf": now, "iat": now, "exp": now + 60, "access": access}
    parts = ({"alg": "ES256", "typ": "JWT", "kid": _KEY}, claims)
    text = ".".join(_text(json.dumps(each).encode()) for each in parts)
    signature = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{text}.{_text(b''.join(each.to_bytes(_BYTES) for each in signature))}"


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
