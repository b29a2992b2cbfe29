"""Validated answers of servers: XML documents and the values of fields and headers.

An answer may come from a proxy, a login page or a malicious server, so each value is validated before its use.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

MOST_TAGS = 200_000
"""Maximum number of `<` in one document. A listing of 1000 objects with all optional fields has about 24,000."""

LONGEST_ETAG = 1024
"""Maximum length of an ETag in characters."""

_ETAG = re.compile(r"[ -~]*")
_NUMBER = re.compile(r"[0-9]{1,19}")
LARGEST = (1 << 63) - 1
"""Maximum of a number in an answer: the maximum size of a file in bytes on Linux."""


@dataclass(frozen=True, slots=True)
class Response:
    """Answer with its complete body."""

    status_code: int
    headers: Mapping[str, str]
    """Headers by name in lower case."""
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300


class Document:
    """Root element of an XML document, or one element in it, with access to its children.

    All elements must be in the same namespace as the root, or in none. `what` names the document in messages, as a noun
    such as "a listing".
    """

    def __init__(self, root: ElementTree.Element, what: str) -> None:
        self._root, self._what = root, what
        # `{http://s3.amazonaws.com/doc/2006-03-01/}`; other implementations use other namespaces, or none.
        self._space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""

    @property
    def name(self) -> str:
        """Name of the element without its namespace."""
        return self._root.tag.removeprefix(self._space)

    def text(self, name: str) -> str:
        """Return the content of the first child with this name; empty if there is none."""
        return self._root.findtext(f"{self._space}{name}") or ""

    def all(self, name: str) -> "list[Document]":
        """Return all children with this name, in the order of the document."""
        return [Document(each, self._what) for each in self._root.findall(f"{self._space}{name}")]

    def flag(self, name: str) -> bool:
        """Return the value of a child that must be `true` or `false`. Raises AttemptError if it is not."""
        found = self.text(name)
        if found not in ("true", "false"):
            raise bad(f"{self._what} in which {name} is {_shown(found)} instead of true or false")
        return found == "true"

    def number(self, name: str) -> int:
        """Return the value of a child that must be a whole number. Raises AttemptError if it is not."""
        return number(self.text(name), f"{self._what} in which {name}")

    def moment(self, name: str) -> datetime:
        """Return the value of a child that must be an ISO 8601 time. Raises AttemptError if it is not."""
        found = self.text(name)
        try:
            moment = datetime.fromisoformat(found)
            moment.timestamp()
        except (ValueError, OverflowError):
            raise bad(f"{self._what} in which {name} is {_shown(found)} instead of a time") from None
        return moment

    def etag(self) -> str:
        """Return the content of the child `ETag`; empty if it is missing. Raises AttemptError if it is invalid."""
        return etag(self.text("ETag"), self._what)


def document(content: bytes, what: str, *roots: str) -> Document:
    """Parse an XML answer and return its root.

    Raises AttemptError if the answer is invalid, or if the name of its root is not in `roots`. `what` names the answer
    in the message, as a noun such as "a listing".
    """
    found = parsed(content)
    if found is None:
        raise bad(f"{what} that is no XML, or too much of it")
    answer = Document(found, what)
    if answer.name not in roots:
        raise bad(f"{what} that begins with <{_shown(answer.name)}> instead of <{roots[0]}>")
    return answer


def parsed(content: bytes) -> ElementTree.Element | None:
    """Parse XML in UTF-8 and return its root.

    Returns None if the XML is invalid, has a document type (which may define entities) or too many tags.
    """
    if b"<!DOCTYPE" in content or content.count(b"<") > MOST_TAGS:
        return None
    try:
        # Parsed from a string, so that the document cannot declare another encoding, in which the check above fails.
        return ElementTree.fromstring(content.decode())  # noqa: S314 - without a document type there are no entities
    except (ElementTree.ParseError, ValueError):
        return None


def etag(text: str, what: str) -> str:
    """Return `text`, an ETag, if it is valid in a header. Otherwise raise AttemptError, with `what` in its message."""
    if not is_etag(text):
        raise bad(f"{what} with the ETag {_shown(text)}")
    return text


def is_etag(text: str) -> bool:
    """Return whether a text is valid as an ETag in a header."""
    return len(text) <= LONGEST_ETAG and bool(_ETAG.fullmatch(text))


def number(text: str, what: str) -> int:
    """Parse a whole number from 0 to `LARGEST`. Raises AttemptError, with `what` in its message, for anything else."""
    if not _NUMBER.fullmatch(text) or int(text) > LARGEST:
        raise bad(f"{what} is {_shown(text)} instead of a number")
    return int(text)


def http_date(text: str, what: str) -> int:
    """Parse the time in a header into whole seconds since 1970. Raises AttemptError about `what` if it is invalid."""
    found = seconds_of(text)
    if found is None:
        raise bad(f"{what} is {_shown(text)} instead of a time")
    return found


def seconds_of(text: str) -> int | None:
    """Parse the time in a header into whole seconds since 1970; None if it is invalid."""
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (TypeError, ValueError, OverflowError):
        return None


def bad(what: str) -> AttemptError:
    """Return the failure (10) for an invalid answer. `what` ends its message: `The server sent <what>`."""
    return AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The server sent {what}")


def _shown(text: str) -> str:
    return repr(text[:100])
