"""Symbolic links in a source: what they stand for, found without following one in the file system."""

import os
import posixpath
import stat
from dataclasses import dataclass

from stowplan.agents.attempt.claim.folder import ClaimFolder

MOST_LINKS = 40
"""Maximum number of links that are followed in one path, as in Linux, so that circles of links end."""

OUT, NOWHERE, CIRCLE = "leads out of the source", "leads nowhere", "leads in a circle"


class LinkError(Exception):
    """A link stands for nothing that can be copied. The message is the end of a sentence that begins with its path."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a link stands for in the end: a path below the root of the source without links, and its attributes."""

    path: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)


def target(root: ClaimFolder, path: str) -> Target:
    """Return what the link at `path` below the root stands for. Other links on the way are followed too.

    An absolute link leads out: it names a path of the pod that made it. Raises LinkError and OSError.
    """
    at, rest, followed = "", path.split("/")[::-1], 0
    while rest:
        segment = rest.pop()
        if segment in ("", "."):
            continue
        if segment == "..":
            if not at:
                raise LinkError(OUT)
            at = posixpath.dirname(at)
            continue
        link = _link(root, at, segment)
        if link is None:
            at = posixpath.join(at, segment)
            continue
        followed += 1
        if followed > MOST_LINKS:
            raise LinkError(CIRCLE)
        if link.startswith("/"):
            raise LinkError(OUT)
        rest += link.split("/")[::-1]
    return Target(at, os.fstat(root.descriptor) if not at else _status(root, *posixpath.split(at)))


def _link(root: ClaimFolder, at: str, name: str) -> str | None:
    """Return what the link `name` in the folder `at` holds; None if it is no link."""
    return root.below(at).link(name) if stat.S_ISLNK(_status(root, at, name).st_mode) else None


def _status(root: ClaimFolder, at: str, name: str) -> os.stat_result:
    try:
        found = root.below(at).stat(name)
    except (FileNotFoundError, NotADirectoryError):
        found = None
    if found is None:
        raise LinkError(NOWHERE)
    return found
