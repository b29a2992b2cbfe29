"""Rules for names of files: what a key of a store, or a path in a repository, must be to become a file of a claim.

Agents refuse other names before they copy anything, and the compiler refuses them in specs.
"""

import re

LONGEST_NAME = 255
"""Maximum length of a name in bytes, as on most file systems of Linux."""

LONGEST_PATH = 4000
"""Maximum length of a path below a folder in bytes. Linux allows 4096 for a whole path, which begins with the claim's.

A path of this length may have 2000 names.
"""

_REFUSED = (
    (re.compile(r"[\x00-\x1f\x7f]"), "a control character"),
    (re.compile(r"\\"), "a backslash"),
    (re.compile(r"[\ud800-\udfff]"), "bytes that are no UTF-8"),
)


def problem(path: str) -> str | None:
    """Return why a path cannot be that of a file, without a subject ("is too long for a path"); None if it can.

    The path of a folder ends in `/`.
    """
    for refused, what in _REFUSED:
        if refused.search(path):
            return f"holds {what}"
    segments = path.removesuffix("/").split("/")
    if "" in segments:
        return "is absolute or has an empty segment"
    if {".", ".."} & set(segments):
        return "has a segment . or .."
    return "is too long for a path" if is_too_long(path) else None


def is_too_long(path: str) -> bool:
    """Return whether a path, or one of its names, has more bytes than a file system takes."""
    return len(path.encode()) > LONGEST_PATH or any(len(each.encode()) > LONGEST_NAME for each in path.split("/"))
