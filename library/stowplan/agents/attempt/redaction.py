"""Removal of secrets from everything that the agent writes."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO
from urllib.parse import quote, quote_plus, unquote

MASK = "[redacted]"

SHORTEST = 4
"""Minimum length in characters. Shorter values are no secrets, and replacing them would damage common words."""

_IN_ANY_URL = re.compile(
    r"(?<=://)[^\s/?#\"'<>\\]+(?=@)"
    r"|(?<=[?&;])((?:[\w.-]|%2D)*(?:signature|credential|token|secret|password|passwd|api[_-]?key)|sig|awsaccesskeyid)"
    r"=[^\s&;\"'<>\\]+",
    re.IGNORECASE,
)
"""User and password, or a query value that grants access: servers send such URLs, and error messages quote them."""

TOKEN_AS_USER = ("", "x-oauth-basic")
"""Values of the password in a URL whose user name is a token."""


def in_url(url: str) -> list[str]:
    """Return the password in a URL, as written and decoded, or the user name if it is a token. Accepts any string."""
    userinfo = url.strip().partition("://")[2].rpartition("@")[0]
    user, _, password = userinfo.partition(":")
    found = user if password in TOKEN_AS_USER else password
    return [found, unquote(found)] if found else []


class Redactor:
    """Replaces known secrets, also in percent-encoded, base64 and JSON form.

    In every URL it also replaces user and password, signatures and tokens.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        return _IN_ANY_URL.sub(_masked, self._pattern.sub(MASK, text) if self._pattern else text)


def _masked(found: re.Match[str]) -> str:
    return f"{found[1]}={MASK}" if found[1] else MASK


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    for encode in (quote, quote_plus):
        for safe in ("", "/", "/:~"):
            encoded = encode(secret, safe=safe)
            yield encoded
            yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
    encoders: tuple[Callable[[bytes], bytes], ...] = (b64encode, urlsafe_b64encode)
    for encode_bytes in encoders:
        yield from _in_base64(secret.encode(), encode_bytes)


def _in_base64(secret: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """Yield the base64 characters that depend on the secret alone, for each of its three possible offsets.

    A character holds six bits, so the first and last characters also depend on neighbouring bytes.
    """
    for before in range(3):
        text = encode(bytes(before) + secret).decode("ascii").rstrip("=")
        first = (0, 2, 3)[before]
        last = len(text) - (0 if (before + len(secret)) % 3 == 0 else 1)
        if last - first >= SHORTEST:
            yield text[first:last]


class RedactedStream:
    """Text stream that redacts each string before writing it."""

    def __init__(self, stream: TextIO, redact: Redactor) -> None:
        self._stream = stream
        self._redact = redact

    def write(self, text: str) -> int:
        self._stream.write(self._redact(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()
