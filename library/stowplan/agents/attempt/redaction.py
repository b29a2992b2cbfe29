"""Removal of secrets from everything that the agent writes."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO
from urllib.parse import quote, quote_plus, unquote

MASK = "[redacted]"

SHORTEST = 4
"""Minimum length of a replaced value in characters.

Shorter values are no secrets, and replacing them would damage common words.
"""

_IN_ANY_URL = re.compile(
    r"(?<=://)[^\s/?#\"'<>\\]+(?=@)"
    r"|(?<=[?&;])((?:[\w.-]|%2D)*(?:signature|credential|token|secret|password|passwd|api[_-]?key)|sig|awsaccesskeyid)"
    r"=[^\s&;\"'<>\\]+",
    re.IGNORECASE,
)
"""Part of a URL that grants access: user and password, or the value of a query parameter.

Servers send such URLs, and error messages quote them.
"""

TOKEN_AS_USER = ("", "x-oauth-basic")
"""Passwords that mean that the user name of the URL is a token, and so the secret."""


def in_url(url: str) -> list[str]:
    """Return the secret in a URL twice: as written, and with percent-encoding decoded. Empty if there is none.

    The secret is the password, or the user name if that is a token. A string that is no URL is accepted and has none.
    """
    userinfo = url.strip().partition("://")[2].rpartition("@")[0]
    user, _, password = userinfo.partition(":")
    found = user if password in TOKEN_AS_USER else password
    return [found, unquote(found)] if found else []


class Redactor:
    """Function that replaces secrets in a string by `MASK` and returns the new string.

    It replaces the given secrets, also in percent-encoded, base64 and JSON form, but none that is shorter than
    `SHORTEST`. In every URL it also replaces user and password, signatures and tokens.
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
    """Yield what the secret looks like inside the base64 form of a longer string: one string per possible offset.

    The secret may begin at the first, second or third byte of a group of three. A base64 character holds six bits, so
    the first and last characters may also depend on neighbouring bytes; such characters are left out.
    """
    for before in range(3):
        text = encode(bytes(before) + secret).decode("ascii").rstrip("=")
        first = (0, 2, 3)[before]
        last = len(text) - (0 if (before + len(secret)) % 3 == 0 else 1)
        if last - first >= SHORTEST:
            yield text[first:last]


class RedactedStream:
    """Text stream that redacts each string before writing it. A secret split over two strings is not recognised."""

    def __init__(self, stream: TextIO, redact: Redactor) -> None:
        self._stream = stream
        self._redact = redact

    def write(self, text: str) -> int:
        self._stream.write(self._redact(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()
