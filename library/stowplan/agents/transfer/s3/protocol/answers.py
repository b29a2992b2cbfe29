"""What servers answer, read with distrust: XML documents and the values of fields and headers.

A server may be another one than it seems, or its answer that of a proxy or a login page.
"""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

MOST_TAGS = 200_000
"""Begins and ends of elements in one document. A listing of 1000 objects with all optional fields has about 24,000."""

LONGEST_ETAG = 1024

_ETAG = re.compile(r"[ -~]*")
_NUMBER = re.compile(r"[0-9]{1,19}")
LARGEST = (1 << 63) - 1
"""What the system takes as a size."""


class Document:
    """The root of a document whose elements all are in one namespace, or in none."""

    def __init__(self, root: ElementTree.Element, what: str) -> None:
        self._root, self._what = root, what
        # `{http://s3.amazonaws.com/doc/2006-03-01/}`; servers that others wrote have other ones, or none.
        self._space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""

    @property
    def name(self) -> str:
        """The name of the root."""
        return self._root.tag.removeprefix(self._space)

    def text(self, name: str) -> str:
        """The text of an element right below the root; empty if there is none."""
        return self._root.findtext(f"{self._space}{name}") or ""

    def all(self, name: str) -> "list[Document]":
        """The elements of a name right below the root."""
        return [Document(each, self._what) for each in self._root.findall(f"{self._space}{name}")]

    def flag(self, name: str) -> bool:
        """An element that must be `true` or `false`; AttemptError else."""
        found = self.text(name)
        if found not in ("true", "false"):
            raise bad(f"{self._what} in which {name} is {_shown(found)} instead of true or false")
        return found == "true"

    def number(self, name: str) -> int:
        """An element that must be a whole number; AttemptError else."""
        return number(self.text(name), f"{self._what} in which {name}")

    def moment(self, name: str) -> datetime:
        """An element that must be a time by ISO 8601; AttemptError else."""
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
    """The answer as XML with one of these roots; AttemptError if it is something else. `what` is as "a listing"."""
    found = parsed(content)
    if found is None:
        raise bad(f"{what} that is no XML, or too much of it")
    answer = Document(found, what)
    if answer.name not in roots:
        raise bad(f"{what} that begins with <{_shown(answer.name)}> instead of <{roots[0]}>")
    return answer


def parsed(content: bytes) -> ElementTree.Element | None:
    """The root; None if it is no XML in UTF-8, has a document type (which may define entities) or too many tags."""
    if b"<!DOCTYPE" in content or content.count(b"<") > MOST_TAGS:
        return None
    try:
        # As a string, so that the document cannot name another encoding, in which tags look otherwise.
        return ElementTree.fromstring(content.decode())  # noqa: S314 - without a document type there are no entities
    except (ElementTree.ParseError, ValueError):
        return None


def etag(text: str, what: str) -> str:
    """An ETag that a header can hold; AttemptError else."""
    if len(text) > LONGEST_ETAG or not _ETAG.fullmatch(text):
        raise bad(f"{what} with the ETag {_shown(text)}")
    return text


def number(text: str, what: str) -> int:
    """A whole number that can be a size; AttemptError else."""
    if not _NUMBER.fullmatch(text) or int(text) > LARGEST:
        raise bad(f"{what} is {_shown(text)} instead of a number")
    return int(text)


def http_date(text: str, what: str) -> int:
    """Whole seconds since 1970, of the time in a header; AttemptError if it is none."""
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (TypeError, ValueError, OverflowError):
        raise bad(f"{what} is {_shown(text)} instead of a time") from None


def bad(what: str) -> AttemptError:
    """The failure for an answer that cannot be meant."""
    return AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The server sent {what}")


def _shown(text: str) -> str:
    return repr(text[:100])
