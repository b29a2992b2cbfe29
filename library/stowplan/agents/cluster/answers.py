"""Answers of the API server of Kubernetes, as values. Lost networks and missing RBAC rights raise no exceptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]

LONGEST = 1000
"""Maximum length in characters of the server's reason and message."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Refusal of a request. `reason` and `message` come from the Status object in the server's answer."""

    status: int
    """HTTP status, 400 or above."""
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.message}".replace(" :", ":")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A request without a usable answer, often for a moment: server, network or token file are unavailable."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch."""

    type: str
    """`ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`."""
    object: Manifest
    """The object after the event; for `BOOKMARK` an object with a `resourceVersion` and little more."""


Trouble = Refused | Unreachable
Answer = Manifest | Trouble


def object_of(content: bytes) -> Manifest:
    """Parse the body of a successful answer, which must be a Kubernetes object. Raises ValueError for anything else.

    For example, a proxy in front of the server may answer with HTTP status 200 and its own page.
    """
    found = _parsed(content)
    if not (isinstance(found, dict) and isinstance(found.get("metadata"), dict)):
        raise ValueError("no Kubernetes object")  # noqa: TRY004 - of the same sort as a string that is no JSON
    return found


def event_of(line: bytes) -> WatchEvent | Trouble:
    """Parse one line of a watch. Raises ValueError if it is no valid event.

    A line of type `ERROR` is returned as `Refused`, for example with status 410 (Gone) if the server no longer has the
    `resourceVersion` from which the watch should begin.
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
    """Return the refusal for an answer with this HTTP status and body.

    The body is a Status object, or any other content from a proxy in front of the server. The latter becomes the
    message, shortened, with an empty reason.
    """
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
