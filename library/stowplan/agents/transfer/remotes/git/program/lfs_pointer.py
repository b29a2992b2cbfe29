"""Pointers of Git LFS: what a commit holds in the place of large files.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

import re
from dataclasses import dataclass

POINTER_LIMIT = 1024
"""Size in bytes that every pointer is below."""

_PATTERN = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\r?\n(?:ext-.*\n)*"
    rb"oid sha256:([0-9a-f]{64})\r?\nsize (\d{1,19})(?:\r?\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """Digest and size of the content that a pointer stands for."""

    oid: str
    """SHA-256 of the content in hexadecimal digits."""
    size: int
    """Size of the content in bytes."""

    @property
    def text(self) -> str:
        """What the file of the pointer holds."""
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {self.size}\n"


def pointer_of(data: bytes) -> Pointer | None:
    """Parse the content of a file as a pointer; None if it is none.

    As for the program `git-lfs`, lines may end in CRLF, and the last one may have no end.
    """
    found = _PATTERN.match(data)
    return Pointer(found[1].decode(), int(found[2])) if found else None


def object_key(oid: str) -> str:
    """Return the path of a content below `lfs/objects`, by its digest."""
    return f"{oid[:2]}/{oid[2:4]}/{oid}"
