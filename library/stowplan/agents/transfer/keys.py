"""Validity of keys as paths below a destination."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

LONGEST_NAME = 255
LONGEST_PATH = 4000
"""Maximum length in bytes. Linux allows 4096 for a path, which includes the claim's own path."""

SHOWN = 10

_REFUSED = (
    (re.compile(r"[\x00-\x1f\x7f]"), "a control character"),
    (re.compile(r"\\"), "a backslash"),
    (re.compile(r"[\ud800-\udfff]"), "bytes that are no UTF-8"),
)


def problem(key: str) -> str | None:
    """Return why a key cannot be a path below the destination; None if it can. A folder's key ends in `/`."""
    for refused, what in _REFUSED:
        if refused.search(key):
            return f"holds {what}"
    segments = key.removesuffix("/").split("/")
    if "" in segments:
        return "is absolute or has an empty segment"
    if {".", ".."} & set(segments):
        return "has a segment . or .."
    if any(len(segment.encode()) > LONGEST_NAME for segment in segments) or len(key.encode()) > LONGEST_PATH:
        return "is too long for a path"
    return None


@dataclass
class KeyCheck:
    """Checks keys in the order of a listing, and stores the first problems.

    An object `a` excludes every `a/…`. Only keys that begin with `a` lie between the two in the order. So a stack of
    the keys that are prefixes of the present one is enough, whatever the length of the listing.
    """

    folds_case: bool
    """True if the destination treats `A` and `a` as one name. A digest of each key is then stored."""
    reserved: Sequence[str] = ()
    """Names at the destination's top that are not for data. If there are any, no key may lead into a `.git` either."""
    refused: list[str] = field(default_factory=list)
    """First problems, each as a sentence."""
    count: int = 0
    _open: list[str] = field(default_factory=list)
    _folded: set[bytes] = field(default_factory=set)
    _closed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._closed = frozenset(each.casefold() for each in self.reserved)

    def look(self, key: str) -> bool:
        """Return whether the key can be a file. Keys must come in ascending order."""
        found = problem(key) or self._reserved(key) or self._clash(key)
        if found:
            self.count += 1
            if len(self.refused) < SHOWN:
                self.refused.append(f"{key!r} {found}")
        return found is None

    def _reserved(self, key: str) -> str | None:
        # Names are compared without case, whatever the destination does: a claim may be copied to a file system that
        # folds case.
        segments = key.casefold().split("/")
        if segments[0] in self._closed:
            return "is kept for other use"
        if self.reserved and ".git" in segments:
            return "is in a folder from which Git takes settings and programs"
        return None

    def _clash(self, key: str) -> str | None:
        while self._open and not key.startswith(self._open[-1]):
            self._open.pop()
        parent = next((other for other in self._open if key[len(other) :].startswith("/")), None)
        if not key.endswith("/"):
            self._open.append(key)
        if parent is not None:
            return f"needs a directory where {parent!r} is an object"
        return self._case_clash(key) if self.folds_case else None

    def _case_clash(self, key: str) -> str | None:
        digest = hashlib.blake2s(key.casefold().encode(), digest_size=8).digest()
        if digest in self._folded:
            return "differs from another key only in case, which the destination does not tell apart"
        self._folded.add(digest)
        return None


def folds_case(exists: Callable[[str], bool], made: str) -> bool:
    """Return whether a file system finds a name, just created in lower case, in upper case too."""
    return exists(made.upper())
