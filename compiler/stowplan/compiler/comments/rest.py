"""A small client of REST services: JSON, a token in a header, bounded in time and size, no redirects.

The standard library is enough: the compiler of users installs no HTTP client.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from stowplan.compiler.pins.trust import is_loopback

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of an answer: a hundred comments of GitHub are at most 26 MB."""

_SECONDS = 30
_TRIES = 3
_BUSY = (429, 503)
"""The service did nothing, so the request can be repeated, whatever it was for."""
_LONGEST_PAUSE = 20
_LONGEST_ANSWER = 300


class RestError(Exception):
    """A request failed; the text is a sentence for the user."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Rest:
    """A REST service at `url`, such as `https://api.github.com`, and the headers of every request, with the token.

    `call` appends its path, which begins with `/`, to `url`. Raises `RestError` unless `url` begins with `https://`, or
    with `http://` and names this machine (a loopback address): nobody else may read the token.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    """With the token, so they are never printed."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise RestError(f"The address of the service must begin with https://, and it is {self.url}.")

    def call(self, method: str, path: str, content: Mapping[str, Any] | None = None) -> Any:
        """Send a request, with `content` as JSON unless it is None, and return the parsed JSON of the answer.

        Waits and tries again, twice at most, if the service is busy. Raises `RestError` if it fails or answers no JSON.
        """
        for left in reversed(range(_TRIES)):
            try:
                return self._once(method, path, content)
            except urllib.error.HTTPError as error:
                if error.code not in _BUSY or not left:
                    raise RestError(f"{method} {path}: {_reason(error)}") from None
                time.sleep(_pause(error.headers.get("Retry-After")))
            except (OSError, HTTPException, ValueError) as error:
                raise RestError(f"{method} {path}: {error}.") from None
        raise AssertionError("the last try returns or raises")

    def _once(self, method: str, path: str, content: Mapping[str, Any] | None) -> Any:
        own = {"Content-Type": "application/json", "User-Agent": "stowplan"}
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(  # noqa: S310 - only https, or this machine
            f"{self.url.rstrip('/')}{path}", data, {**own, **self.headers}, method=method
        )
        # By plain http only this machine is asked, and a proxy would read the token.
        proxies = urllib.request.ProxyHandler({} if request.type == "http" else None)
        opener = urllib.request.build_opener(_NoRedirect, proxies)
        with opener.open(request, timeout=_SECONDS) as answer:
            received = answer.read(MOST_BYTES + 1)
        if len(received) > MOST_BYTES:
            raise RestError(f"{method} {path}: the answer is longer than {MOST_BYTES} bytes.")
        return json.loads(received)


def _pause(retry_after: str | None) -> int:
    return min(int(retry_after), _LONGEST_PAUSE) if retry_after and retry_after.isdecimal() else 1


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the status and what the service says of it, in one line without control characters."""
    try:
        said = json.loads(error.read(MOST_BYTES))
        text = str(said.get("message") or said.get("error") or "") if isinstance(said, dict) else ""
    except (OSError, HTTPException, ValueError):
        text = ""
    shown = "".join(each if each.isprintable() else " " for each in text[:_LONGEST_ANSWER])
    return f"the service answers {error.code}{f' ({shown})' if shown else ''}."
