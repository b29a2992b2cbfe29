"""Files of a source in a claim, with what its symbolic links stand for: none is followed in the file system."""

import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.keys import PROTECTED
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.agents.transfer.tree import Found, Tree
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.left_out import Links, Reason
from stowplan.schema.file_names import LONGEST_PATH

MOST_LINKS = 40
"""Maximum number of links that are followed in one path, as in Linux, so that circles of links end."""

MOST_FOLDER_LINKS = 100_000
"""Maximum number of links to folders that one walk follows. Folders that link to each other stand for any number."""

OUT, NOWHERE, CIRCLE = "leads out of the source", "leads nowhere", "leads in a circle"


class LinkError(Exception):
    """A link stands for nothing that can be copied. The message is the end of a sentence that begins with its path."""


def resolved(path: str, link: Callable[[str, str], str | None]) -> str:
    """Return the path without links that `path` leads to. Both are relative to a root, which is the empty path.

    `link` gets a folder and a name in it, and returns what the link of this name holds; None if it is no link. An
    absolute link leads out: it names a path of the pod that made it. Raises LinkError with the message `OUT` or
    `CIRCLE`, and the errors of `link`.
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
        found = link(at, segment)
        if found is None:
            at = posixpath.join(at, segment)
            continue
        if found.startswith("/"):
            raise LinkError(OUT)
        followed += 1
        if followed > MOST_LINKS:
            raise LinkError(CIRCLE)
        rest += found.split("/")[::-1]
    return at


def _target(root: ClaimFolder, path: str) -> tuple[str, os.stat_result]:
    """Return the path without links that the link at `path` below the root stands for in the end, and its attributes.

    Raises LinkError and OSError.
    """
    at = resolved(path, partial(_link, root))
    return at, os.fstat(root.descriptor) if not at else _status(root, *posixpath.split(at))


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


@dataclass(slots=True)
class _Entry:
    """A name in a folder of the source. `real` is the path of what it stands for, without links."""

    name: str
    real: str
    status: os.stat_result
    left_out: Reason | None = None
    problem: str = ""
    is_link: bool = False

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode) and not (self.left_out or self.problem)

    @property
    def order(self) -> str:
        return f"{self.name}/" if self.is_folder else self.name


@dataclass(slots=True)
class _Level:
    """A folder in which the walk is. `left` has the entries that it has not come to, the next one last."""

    prefix: str
    real: str
    left: list[_Entry]


@dataclass(frozen=True)
class Source:
    """The directory of a claim that is copied, as `tree`. What is no data, `PROTECTED`, is not copied or counted."""

    tree: Tree
    links: Links
    """`follow`: links are what they stand for; `skip`: they are left out; `fail`: each is a problem."""
    patterns: Patterns
    refused: Callable[[str], bool]
    """Function that returns whether the destination refuses a path, which is without a final `/`."""

    def walk(self) -> Iterator[Found]:
        """Yield everything by ascending key. What is not copied has a reason (`left_out`) or a `problem`.

        Raises AttemptError (5) if folders are nested too deep, or if links stand for too many of them.
        """
        root, followed = self.tree.root, 0
        levels = [_Level("", "", self._entries(root, "", ""))]
        while levels:
            level = levels[-1]
            if not level.left:
                levels.pop()
                continue
            entry = level.left.pop()
            key = level.prefix + entry.name
            if not entry.is_folder:
                yield self._found(key, entry)
                continue
            if entry.is_link and (entry.real in {each.real for each in levels}):
                yield Found(key, 0, 0, problem=CIRCLE)
                continue
            followed += entry.is_link
            if followed > MOST_FOLDER_LINKS or len(os.fsencode(key)) > LONGEST_PATH:
                raise _endless(self.tree, key)
            try:
                inner = self._entries(root.below(entry.real), f"{key}/", entry.real)
            except FileNotFoundError:
                continue
            yield self._chosen(Found(f"{key}/", 0, 0, is_empty=not inner))
            levels.append(_Level(f"{key}/", entry.real, inner))

    def _found(self, key: str, entry: _Entry) -> Found:
        if entry.problem or entry.left_out:
            return self._chosen(Found(key, 0, 0, left_out=entry.left_out, problem=entry.problem))
        found = entry.status
        return self._chosen(Found(key, found.st_size, found.st_mtime_ns, real=entry.real, mode=found.st_mode & 0o777))

    def _chosen(self, found: Found) -> Found:
        return found if self.patterns.take(found.key) else replace(found, left_out="excluded", problem="")

    def _entries(self, folder: ClaimFolder, prefix: str, real: str) -> list[_Entry]:
        """Return what is in a folder, by descending key. `prefix` begins its keys, `real` is its path without links."""
        inside = f"{real}/" if real else ""
        found = [self._entry(folder, prefix, inside + each.name, each.name) for each in folder.entries()]
        return sorted(filter(None, found), key=lambda each: each.order, reverse=True)

    def _entry(self, folder: ClaimFolder, prefix: str, real: str, name: str) -> _Entry | None:
        if prefix + name in PROTECTED or (status := folder.stat(name)) is None:
            return None
        if self.refused(prefix + name):
            return _Entry(name, real, status, left_out="reserved")
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            return _Entry(name, real, status)
        if not stat.S_ISLNK(status.st_mode):
            return _Entry(name, real, status, left_out="device")
        return self._link(_Entry(name, real, status, is_link=True))

    def _link(self, entry: _Entry) -> _Entry:
        """Return the entry of a link, with what it leads to or why it is not copied."""
        if self.links == "skip":
            return replace(entry, left_out="link")
        if self.links != "follow":
            return replace(entry, problem="is a link")
        try:
            path, status = _target(self.tree.root, entry.real)
        except LinkError as error:
            return replace(entry, problem=str(error))
        if path.partition("/")[0] in PROTECTED or self.refused(path):
            return replace(entry, problem="leads to what is not copied")
        known = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
        return replace(entry, real=path, status=status, left_out=None if known else "device")


@contextmanager
def opened(settings: TransferSettings) -> Iterator[tuple[Tree, Found | None]]:
    """Open what the settings copy from the claim: yield a directory and None, or the directory of a file and the file.

    The directory is closed at the end. Raises AttemptError (4) if the last segment of the path is missing.
    """
    claim, path = settings.claim, settings.local.path
    folder, _, name = path.rstrip("/").rpartition("/")
    single = _file(claim, folder, name) if name else None
    with closing(Tree(claim, folder if single else path, create=False)) as tree:
        yield tree, single


def _file(claim: Path, directory: str, name: str) -> Found | None:
    """Return the file `name` in a directory of a claim; None if it is no regular file."""
    with closing(Tree(claim, directory, create=False)) as parent:
        found = parent.stat(name)
    if found is None:
        raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"{claim / directory / name} is not there")
    if not stat.S_ISREG(found.st_mode):
        return None
    return Found(name, found.st_size, found.st_mtime_ns, real=name, mode=found.st_mode & 0o777)


def _endless(tree: Tree, key: str) -> AttemptError:
    message = (
        f"{tree.where}/{key[:100]}… is a folder that is nested too deep, or links to folders stand for too many. Move"
        " it, or leave links out by `links: skip`"
    )
    return AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)
