"""Answers of an API server as values: a lost network or a missing right raises no exception."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]

LONGEST = 1000
"""Maximum length in characters of the server's reason and message."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Refusal: an HTTP status of 400 or above. The other fields come from its Status object."""

    status: int
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.message}".replace(" :", ":")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Missing answer, often temporary: the server, the network or the token file is unavailable."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch: `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, and the object."""

    type: str
    object: Manifest


Trouble = Refused | Unreachable
Answer = Manifest | Trouble


def object_of(content: bytes) -> Manifest:
    """Parse the object in the body of an answer. Raises ValueError for anything else.

    A proxy in front of the server may answer 200 with a page of its own.
    """
    found = _parsed(content)
    if not (isinstance(found, dict) and isinstance(found.get("metadata"), dict)):
        raise ValueError("no Kubernetes object")  # noqa: TRY004 - of the same sort as text that is no JSON
    return found


def event_of(line: bytes) -> WatchEvent | Trouble:
    """Parse one line of a watch. Raises ValueError for anything else.

    An `ERROR` line carries a Status, such as 410 Gone for a version that the server no longer has.
    """
    event = _parsed(line)
    found = event.get("object") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(found, dict):
        raise ValueError("no event")  # noqa: TRY004 - as above
    if event.get("type") == "ERROR":
        code = found.get("code")
        return _refused(code if isinstance(code, int) and code else 500, found)
    if not isinstance(found.get("metadata"), dict):
        raise ValueError("no Kubernetes object")  # noqa: TRY004 - as above
    return WatchEvent(str(event.get("type")), found)


def refusal_of(status: int, content: bytes) -> Refused:
    """Parse the body of a refusal: a Status object, or the plain text of a proxy in front of the server."""
    try:
        return _refused(status, _parsed(content))
    except ValueError:
        return _refused(status, None, content.decode(errors="replace"))


def _parsed(content: bytes) -> object:
    """Parse JSON. Raises ValueError for invalid or too deeply nested JSON."""
    try:
        found: object = json.loads(content)
    except RecursionError:
        raise ValueError("too deeply nested") from None
    return found


def _refused(status: int, body: object, text: str = "") -> Refused:
    if not isinstance(body, Mapping):
        return Refused(status, "", text[:200].strip())
    reason, message = (str(body.get(field) or "")[:LONGEST] for field in ("reason", "message"))
    return Refused(status, reason, message)
