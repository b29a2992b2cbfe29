"""Signatures of requests to S3: AWS Signature Version 4, in the Authorization header.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from urllib.parse import quote

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
"""SHA-256 of an empty body in hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class S3Credentials:
    """Access key, secret key and session token of an account. `repr` hides all of them."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


def encoded(text: str, safe: str = "") -> str:
    """Percent-encode by S3's rule: all except letters, digits, `-._~` and `safe`, as `%2F`.

    Single surrogates stand for bytes that are no UTF-8.
    """
    return quote(text, safe=safe + "-._~", errors="surrogateescape")


def query_string(query: Sequence[tuple[str, str]]) -> str:
    """Return the percent-encoded query of a URL without `?`, sorted as the signature requires."""
    return "&".join(sorted(f"{encoded(name)}={encoded(value)}" for name, value in query))


@dataclass(frozen=True, slots=True)
class Unsigned:
    """What the signature of a request covers. `path` and `query` are percent-encoded."""

    method: str
    host: str
    path: str
    query: str
    headers: Mapping[str, str]
    sha256: str = EMPTY_SHA256
    """Digest of the body in hexadecimal digits."""


def signed_headers(request: Unsigned, credentials: S3Credentials, region: str, now: datetime) -> dict[str, str]:
    """Return all headers of a request, in lower case: its own, and those for the host, time, digest and signature.

    `now` is in UTC.
    """
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    complete = {
        **{name.lower(): value for name, value in request.headers.items()},
        "host": request.host,
        "x-amz-content-sha256": request.sha256,
        "x-amz-date": stamp,
    }
    if credentials.session_token:
        complete["x-amz-security-token"] = credentials.session_token
    names = sorted(complete)
    listed = ";".join(names)
    lines = (f"{name}:{complete[name].strip()}" for name in names)
    canonical = "\n".join((request.method, request.path, request.query, *lines, "", listed, request.sha256))
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = _signing_key(credentials.secret_access_key, scope)
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return complete | {
        "authorization": f"AWS4-HMAC-SHA256 Credential={credentials.access_key_id}/{scope}, "
        f"SignedHeaders={listed}, Signature={signature}"
    }


@lru_cache(maxsize=2)
def _signing_key(secret: str, scope: str) -> bytes:
    """Return the key that signs all requests of one day. Threads wait for each other at each digest, so it is kept."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
