"""Validated answers of servers: XML documents and the values of fields and headers.

A server may not be what it seems, or its answer may come from a proxy or a login page.
"""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

MOST_TAGS = 200_000
"""Maximum number of tags in one document. A listing of 1000 objects with all optional fields has about 24,000."""

LONGEST_ETAG = 1024

_ETAG = re.compile(r"[ -~]*")
_NUMBER = re.compile(r"[0-9]{1,19}")
LARGEST = (1 << 63) - 1
"""Maximum size of a file in the operating system."""


class Document:
    """Root of a document whose elements are all in one namespace, or in none."""

    def __init__(self, root: ElementTree.Element, what: str) -> None:
        self._root, self._what = root, what
        # `{http://s3.amazonaws.com/doc/2006-03-01/}`; other implementations use other namespaces, or none.
        self._space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""

    @property
    def name(self) -> str:
        """Name of the root."""
        return self._root.tag.removeprefix(self._space)

    def text(self, name: str) -> str:
        """Return the content of a child element of the root; empty if it is missing."""
        return self._root.findtext(f"{self._space}{name}") or ""

    def all(self, name: str) -> "list[Document]":
        """Return the child elements with this name."""
        return [Document(each, self._what) for each in self._root.findall(f"{self._space}{name}")]

    def flag(self, name: str) -> bool:
        """Return the value of an element that must be `true` or `false`. Raises AttemptError."""
        found = self.text(name)
        if found not in ("true", "false"):
            raise bad(f"{self._what} in which {name} is {_shown(found)} instead of true or false")
        return found == "true"

    def number(self, name: str) -> int:
        """Return the value of an element that must be a whole number. Raises AttemptError."""
        return number(self.text(name), f"{self._what} in which {name}")

    def moment(self, name: str) -> datetime:
        """Return the value of an element that must be an ISO 8601 time. Raises AttemptError."""
        found = self.text(name)
        try:
            moment = datetime.fromisoformat(found)
            moment.timestamp()
        except (ValueError, OverflowError):
            raise bad(f"{self._what} in which {name} is {_shown(found)} instead of a time") from None
        return moment

    def etag(self) -> str:
        return etag(self.text("ETag"), self._what)


def document(content: bytes, what: str, *roots: str) -> Document:
    """Parse XML with one of these roots. Raises AttemptError. `what` is a noun such as "a listing"."""
    found = parsed(content)
    if found is None:
        raise bad(f"{what} that is no XML, or too much of it")
    answer = Document(found, what)
    if answer.name not in roots:
        raise bad(f"{what} that begins with <{_shown(answer.name)}> instead of <{roots[0]}>")
    return answer


def parsed(content: bytes) -> ElementTree.Element | None:
    """Parse XML in UTF-8; None if it is invalid, has a document type (which may define entities) or too many tags."""
    if b"<!DOCTYPE" in content or content.count(b"<") > MOST_TAGS:
        return None
    try:
        # Parsed from a string, so that the document cannot declare another encoding, in which the check above fails.
        return ElementTree.fromstring(content.decode())  # noqa: S314 - without a document type there are no entities
    except (ElementTree.ParseError, ValueError):
        return None


def etag(text: str, what: str) -> str:
    """Validate an ETag for use in a header. Raises AttemptError."""
    if len(text) > LONGEST_ETAG or not _ETAG.fullmatch(text):
        raise bad(f"{what} with the ETag {_shown(text)}")
    return text


def number(text: str, what: str) -> int:
    """Parse a whole number that can be a size. Raises AttemptError."""
    if not _NUMBER.fullmatch(text) or int(text) > LARGEST:
        raise bad(f"{what} is {_shown(text)} instead of a number")
    return int(text)


def http_date(text: str, what: str) -> int:
    """Parse the time in a header into whole seconds since 1970. Raises AttemptError."""
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (TypeError, ValueError, OverflowError):
        raise bad(f"{what} is {_shown(text)} instead of a time") from None


def bad(what: str) -> AttemptError:
    """Return the failure for an invalid answer."""
    return AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The server sent {what}")


def _shown(text: str) -> str:
    return repr(text[:100])
