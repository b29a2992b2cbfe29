"""What an API server answers, as values: a network that is away or a right that is missing is no exception."""

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


Trouble = Refused | Unreachable
Answer = Manifest | Trouble


def refused(status: int, body: object, text: str = "") -> Refused:
    """From the body of an answer: a Status object, or the plain text of whatever stands before the server."""
    if not isinstance(body, Mapping):
        return Refused(status, "", text[:200].strip())
    return Refused(status, str(body.get("reason") or ""), str(body.get("message") or ""))
