"""Validated answers of a Git LFS server.

https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_value
from stowplan.schema.agents.exit_codes import ExitCode

MOST_MESSAGE = 300
"""Maximum number of characters that an error message quotes of a server's message."""

_OID = re.compile(r"[0-9a-f]{64}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_NOT_THEIRS = frozenset(
    {"connection", "content-length", "expect", "host", "range", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers of an action that are ignored. Only `transfer-encoding: chunked` has an effect (`Action.chunked`)."""


@dataclass(frozen=True, slots=True)
class Action:
    """One request that the server asks the client to send: URL and headers."""

    href: str
    headers: Mapping[str, str]
    chunked: bool
    """True if the body must be sent without its length."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of the server about one object: actions by name, such as `upload`, or an error with its HTTP code."""

    actions: Mapping[str, Action]
    """Empty with an error, or if the server has the object that is to be uploaded."""
    error: str | None = None
    """Message of the server; None if there is no error."""
    code: int = 0


def answers(data: bytes, asked: set[str]) -> dict[str, Answer]:
    """Parse the answer to a batch request, and return the answers by digest. `asked` are the requested digests.

    Raises AttemptError for an invalid answer: TRANSIENT (10) if it may have been cut off, else CONFLICT (5).
    """
    found = json_value(data)
    objects = found.get("objects") if isinstance(found, dict) else None
    if not isinstance(objects, list):
        message = "What the server of Git LFS answers is no list of objects"
        raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", message)
    known = {}
    for each in objects:
        oid = each.get("oid") if isinstance(each, dict) else None
        if not isinstance(oid, str) or not _OID.fullmatch(oid) or oid not in asked:
            message = "The server of Git LFS answers with an object that nobody asked for"
            raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message)
        known[oid] = _answer(each)
    return known


def _answer(given: dict[str, Any]) -> Answer:
    error, actions = given.get("error"), given.get("actions")
    if isinstance(error, dict):
        code = error.get("code")
        return Answer({}, quoted(str(error.get("message", ""))), code if isinstance(code, int) else 500)
    found = actions.items() if isinstance(actions, dict) else ()
    return Answer({str(name): _action(each) for name, each in found})


def _action(given: Any) -> Action:
    """Parse an action. Raises AttemptError (exit code 5) for a missing address or invalid headers."""
    href = given.get("href") if isinstance(given, dict) else None
    headers = (given.get("header") or {}) if isinstance(given, dict) else {}
    good = isinstance(href, str) and isinstance(headers, dict) and len(headers) <= 50
    if not good or not all(_is_header(name, value) for name, value in headers.items()):
        message = "The server of Git LFS answers with an address or headers that are none"
        raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message)
    lower = {name.lower(): value for name, value in headers.items()}
    chunked = lower.get("transfer-encoding", "").lower() == "chunked"
    kept = {name: value for name, value in lower.items() if name not in _NOT_THEIRS and not name.startswith("proxy-")}
    return Action(str(href), kept, chunked)


def _is_header(name: Any, value: Any) -> bool:
    printable = isinstance(value, str) and len(value) <= 8192 and all(32 <= ord(each) < 127 for each in value)
    return isinstance(name, str) and bool(_HEADER.fullmatch(name)) and printable


def quoted(message: str) -> str:
    """Return the beginning of a server's message, with a blank in place of each character that is not printable."""
    return "".join(each if each.isprintable() else " " for each in message[:MOST_MESSAGE])
