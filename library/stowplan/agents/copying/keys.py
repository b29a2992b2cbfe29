"""Check whether keys (names of objects, or paths in a repository) are valid as paths below a destination."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.file_names import problem

PROTECTED = (STATE_DIRECTORY, "lost+found", ".snapshot")
"""Names in the root directory of a claim that hold no data of users. Transfers neither copy nor delete them."""


@dataclass
class KeyCheck:
    """Checks keys in ascending order: call `look` with each, and raise `error` at the end if `count` is not 0.

    If there is an object `a`, no key may begin with `a/`, since `a` would have to be a file and a directory. Between
    `a` and `a/…` in the order there are only keys that begin with `a`. So it is enough to store the earlier keys that
    are prefixes of the current one, whatever the length of the listing.
    """

    folds_case: bool
    """True if the destination treats `A` and `a` as one name. Then a digest of each key is stored to find them."""
    reserved: Sequence[str] = ()
    """First segments that no key may have, in any case.

    If there are any, no segment of a key may be `.git` either, unless `git` is true.
    """
    refused: list[str] = field(default_factory=list)
    """First `SHOWN` problems, each as a sentence that begins with the key."""
    count: int = 0
    """Number of all refused keys."""
    git: bool = False
    """True if a segment may be `.git` nevertheless."""
    _open: list[str] = field(default_factory=list)
    _folded: set[bytes] = field(default_factory=set)
    _closed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._closed = frozenset(each.casefold() for each in self.reserved)

    def look(self, key: str, size: int = 0) -> bool:
        """Return whether the key can be a path below the destination. Call this with all keys in ascending order.

        `size` is that of the object in bytes, of which a folder (its key ends in `/`) must have none. A key that cannot
        be one is counted in `count`, and described in `refused` if it is one of the first.
        """
        found = self.refusal(key) or self._clash(key)
        if found is None and size and key.endswith("/"):
            found = f"names a folder, and holds {size} bytes"
        if found:
            self.count += 1
            if len(self.refused) < SHOWN:
                self.refused.append(f"{key!r} {found}")
        return found is None

    def error(self, ending: str) -> AttemptError:
        """Return the failure (exit code 5) that names the first refused keys, and ends with the words `ending`."""
        more = f" and {self.count - len(self.refused)} more" if self.count > len(self.refused) else ""
        message = f"{self.count} names cannot be used: {'; '.join(self.refused)}{more}"
        return AttemptError(ExitCode.CONFLICT, "UnsafeKeys", f"{message}. Leave them out by `exclude`. {ending}")

    def refusal(self, key: str) -> str | None:
        """Return why a key can be no path, whatever the other keys, as the end of a sentence about it; else None."""
        return problem(key) or self._reserved(key)

    def _reserved(self, key: str) -> str | None:
        # Names are compared without case, whatever the destination does: a claim may be copied to a file system that
        # folds case.
        segments = key.casefold().split("/")
        if segments[0] in self._closed:
            return "is kept for other use"
        if self.reserved and not self.git and ".git" in segments:
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
