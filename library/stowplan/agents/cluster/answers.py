"""What an API server answers, as values: a network that is away or a right that is missing is no exception."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]


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
    found = json.loads(content)
    if not (isinstance(found, dict) and isinstance(found.get("metadata"), dict)):
        raise ValueError("no Kubernetes object")  # noqa: TRY004 - of the same sort as text that is no JSON
    return found


def event_of(line: bytes) -> WatchEvent | Trouble:
    """One line of a watch; ValueError, LookupError or TypeError if it is something else.

    An `ERROR` line carries a Status, such as 410 Gone for a version that the server no longer has.
    """
    event = json.loads(line)
    if event["type"] == "ERROR":
        return _refused(int(event["object"].get("code") or 500), event["object"])
    return WatchEvent(event["type"], event["object"])


def refusal_of(status: int, content: bytes) -> Refused:
    """From the body of an answer: a Status object, or the plain text of whatever stands before the server."""
    try:
        return _refused(status, json.loads(content))
    except ValueError:
        return _refused(status, None, content.decode(errors="replace"))


def _refused(status: int, body: object, text: str = "") -> Refused:
    if not isinstance(body, Mapping):
        return Refused(status, "", text[:200].strip())
    return Refused(status, str(body.get("reason") or ""), str(body.get("message") or ""))
