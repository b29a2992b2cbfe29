"""What an API server answers, as values: a network that is away or a right that is missing is no exception."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]

LONGEST = 1000
"""Characters of a reason or message that the server gives."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The server said no: an HTTP status of 400 or above; the other fields are those of its Status object."""

    status: int
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.message}".replace(" :", ":")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """No answer: the server, the network or the own token file is away. It may pass."""

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
    """The object in the body of an answer; ValueError if it is none.

    Something between us and the server may answer 200 with a page of its own.
    """
    found = _parsed(content)
    if not (isinstance(found, dict) and isinstance(found.get("metadata"), dict)):
        raise ValueError("no Kubernetes object")  # noqa: TRY004 - of the same sort as text that is no JSON
    return found


def event_of(line: bytes) -> WatchEvent | Trouble:
    """One line of a watch; ValueError if it is something else.

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
    """From the body of an answer: a Status object, or the plain text of whatever stands before the server."""
    try:
        return _refused(status, _parsed(content))
    except ValueError:
        return _refused(status, None, content.decode(errors="replace"))


def _parsed(content: bytes) -> object:
    """ValueError for text that is no JSON, or too deeply nested."""
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
