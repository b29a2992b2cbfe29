"""What a destination has and the source of a sync does not list: found before the copy, and deleted after it."""

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.listing.brought import MOST, BroughtHashes, number_of
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry
from stowplan.schema.agents.exit_codes import ExitCode

_IN_MEMORY = 1 << 20
"""Maximum bytes of the list of files to delete that are kept in memory; the rest lies in the scratch of the pod."""


class UnlistedFiles:
    """Chooses which files to delete of those that the destination has and the source does not list. Deletes none.

    If the source has moved, they are those that the owner of the record `brought` has brought. With more than `most`,
    `check` fails. Call `listed` and `meet` in ascending order of keys, and the other methods after that.
    """

    def __init__(self, brought: BroughtHashes, most: int) -> None:
        self.brought, self.most = brought, most
        self.count = 0
        """Number of files to delete."""
        self.unknown = 0
        """Number of the other files."""
        self.is_blocked = False
        """Whether a file to delete has the path of a folder that the source needs, or the other way round."""
        self.total = 0
        """Number of the keys that the source lists."""
        self._listed, self._kept = array("Q"), array("Q")
        self._doomed = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii")  # noqa: SIM115 - closed with this object
        self._open: list[tuple[str, bool]] = []

    def close(self) -> None:
        self._doomed.close()

    __del__ = close

    def listed(self, entry: Entry) -> None:
        """Take a key of the source that is to be a file of the destination."""
        self.total += 1
        if self.total <= MOST:
            self._listed.append(number_of(entry.order))
        self._note(entry.key, is_doomed=False)

    def meet(self, entry: Entry) -> None:
        """Take a file of the destination that the source does not list."""
        number = number_of(entry.order)
        owner = self.brought.by(number)
        if owner == self.brought.owner and self.brought.moved:
            self.count += 1
            if self.count <= self.most:
                self._doomed.write(json.dumps([entry.key, entry.size, entry.modified]) + "\n")
                self._note(entry.key, is_doomed=True)
            return
        self.unknown += 1
        if owner:
            self._kept.append(number)

    def _note(self, key: str, *, is_doomed: bool) -> None:
        # Between `a` and `a/…` in the order there are only keys that begin with `a`.
        while self._open and not key.startswith(self._open[-1][0]):
            self._open.pop()
        self.is_blocked |= any(key.startswith(f"{each}/") and doomed != is_doomed for each, doomed in self._open)
        self._open.append((key, is_doomed))

    def spare(self) -> None:
        """Let all files stay: they count as `unknown`. Do not call `doomed` after that."""
        self.unknown, self.count, self.is_blocked = self.unknown + self.count, 0, False

    def check(self) -> None:
        """Raise AttemptError (5) if more files would be deleted than are allowed."""
        if self.count > self.most:
            message = (
                f"{self.count} files are not in the source, which syncs from an earlier source have brought, but"
                f" maxDelete is {self.most}: nothing was copied or deleted. Allow more, or remove them first"
            )
            raise AttemptError(ExitCode.CONFLICT, "TooManyDeletions", message)

    def doomed(self) -> Iterator[Entry]:
        """Yield the files to delete, `most` at most, in ascending order of keys, as the destination lists them."""
        self._doomed.seek(0)
        for line in self._doomed:
            yield Entry(*json.loads(line))

    def begun(self) -> BroughtHashes | None:
        """Return the record to write before the first change; None if there are too many files."""
        if self.total > MOST:
            return None
        made = self.brought.begun(self._listed)
        return made if made.count <= MOST else None

    def finished(self) -> BroughtHashes | None:
        """Return the record to write at the end; None if there are too many files."""
        return self.brought.finished(self._listed, self._kept) if self.total <= MOST else None


@dataclass
class _Folder:
    key: str
    is_emptied: bool = False
    """True if something in it is deleted."""
    is_needed: bool = False
    """True if something in it stays."""


@dataclass
class Removable:
    """Chooses what is deleted: of the `doomed` files those that a new listing has unchanged, and emptied folders.

    `there` is the new listing, with folders. Both are in ascending order of keys. The new listing must name links as
    such, and not what they lead to. A link then has another size or time.
    """

    doomed: Iterable[Entry]
    there: Iterable[Entry]
    _folders: list[_Folder] = field(default_factory=list)

    def chosen(self) -> Iterator[str]:
        """Yield the keys of what is deleted, each folder (its key ends in `/`) after what is in it."""
        doomed = iter(self.doomed)
        wanted = next(doomed, None)
        for entry in self.there:
            yield from self._left(entry.key)
            if entry.key.endswith("/"):
                self._folders.append(_Folder(entry.key))
                continue
            while wanted and wanted.order < entry.order:
                wanted = next(doomed, None)
            is_deleted = wanted == entry
            if self._folders:
                self._folders[-1].is_emptied |= is_deleted
                self._folders[-1].is_needed |= not is_deleted
            if is_deleted:
                yield entry.key
        yield from self._left("")

    def _left(self, key: str) -> Iterator[str]:
        """Yield the emptied ones of the folders that the listing has left on its way to `key`."""
        while self._folders and not (key and key.startswith(self._folders[-1].key)):
            folder = self._folders.pop()
            is_deleted = folder.is_emptied and not folder.is_needed
            if self._folders:
                self._folders[-1].is_emptied |= is_deleted
                self._folders[-1].is_needed |= not is_deleted
            if is_deleted:
                yield folder.key
