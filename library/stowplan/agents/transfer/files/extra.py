"""What is in a destination and not in its source: found before the copy, and deleted after it if that is asked."""

import errno
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any

from stowplan.agents.attempt.claim.folder import FolderEntry
from stowplan.agents.attempt.claim.walk import by_key, empty_folders, walk
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.files.brought import BroughtName, BroughtNames
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import Mirror

_IN_MEMORY = 1 << 20
"""Maximum bytes of a list of names that are kept in memory; the rest lies in the scratch of the pod."""


class _Spool:
    """List of values of any length, in the order in which they are added."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii")  # noqa: SIM115 - it is closed with this object

    def close(self) -> None:
        self._file.close()

    def add(self, value: str | BroughtName) -> None:
        self._file.write(json.dumps(value) + "\n")

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        return map(json.loads, self._file)


@dataclass(frozen=True)
class Rule:
    """Which files that the source lacks are deleted.

    With `mirror` these are all that the patterns select. If the source has moved, they are those that earlier copies
    have brought, at most `most`; none if that is None.
    """

    mirror: Mirror | None
    patterns: Patterns
    most: int | None


@dataclass
class _Folder:
    """A folder in which the walk is."""

    key: str
    line: BroughtName | None
    """Line of the record if the folder itself was brought."""
    is_needed: bool
    """True if it is listed, or something in it remains."""
    is_emptied: bool = False
    """True if something in it will be deleted."""


class Extra:
    """Files and directories of the destination `tree` that the present source does not list, by what `brought` records.

    It deletes those that `rule` selects, and counts the others in `progress`. Call `brought.prepare`, then `find`,
    which changes nothing, copy in the block of `around`, which deletes, and call `finish`. `close` closes `brought`
    too. They raise AttemptError (5) if more files would be deleted than are allowed, before the first; and OSError and
    StoppedError.
    """

    def __init__(  # noqa: PLR0917 - what all deletions share
        self, tree: Tree, brought: BroughtNames, rule: Rule, progress: Progress, stop: Stop, log: Log
    ) -> None:
        self._tree, self._brought, self._rule = tree, brought, rule
        self._progress, self._stop, self._log = progress, stop, log
        self._unwanted, self._kept = _Spool(), _Spool()
        self._folders: list[_Folder] = []
        self._lines: Iterator[BroughtName] = iter(())
        self._line: BroughtName | None = None
        self._count = 0
        self._is_deleted = False

    def close(self) -> None:
        for each in (self._brought, self._unwanted, self._kept):
            each.close()

    def find(self, protected: Sequence[str]) -> None:
        """Look through the destination, which this does not change, and count what remains (`files_unknown`).

        `protected` are keys, without a final `/`, that are passed over with all below them. Raises AttemptError (5) if
        the source has moved, and more files would be deleted than are allowed: then nothing is copied either.
        """
        self._lines = self._brought.lines()
        self._line = next(self._lines, None)
        for path, entry, _ in walk(self._tree.root, by_key, lambda *each: self._is_passed(protected, *each)):
            self._stop.check()
            key = f"{path}/" if entry.is_folder else path
            self._leave(key)
            line = self._line_at(key)
            line = line if line and line.key == key else None
            if entry.is_folder:
                self._folders.append(_Folder(key, line, is_needed=line is not None and line.listed))
            else:
                self._count += self._meet(key, line, is_data=entry.is_file)
        self._leave("")
        # Only at the end of the record it is known that others have not changed it.
        for _ in self._lines:
            self._stop.check()
        if not self._rule.mirror:
            self._check()

    def _is_passed(self, protected: Sequence[str], path: str, entry: FolderEntry) -> bool:
        """Return whether the walk passes over an entry.

        Folders of others count as one file and are not entered: a claim may hold far more than its copies. Folders
        without files count for nothing: a killed attempt may leave them.
        """
        if path in protected:
            return True
        key = f"{path}/"
        if self._rule.mirror or not entry.is_folder or ((line := self._line_at(key)) and line.key.startswith(key)):
            return False
        self._leave(key)
        if not empty_folders(self._tree.root, path):
            self._meet(key, None, is_data=False)
        return True

    def _line_at(self, key: str) -> BroughtName | None:
        """Return the first line of the record from `key` on. Keys must be asked for in ascending order."""
        while self._line and self._line.key < key:
            self._line = next(self._lines, None)
        return self._line

    def _meet(self, key: str, line: BroughtName | None, *, is_data: bool) -> bool:
        """Decide what happens to a file, and return whether it will be deleted.

        `line` is that of the record; None if no copy has brought the file. `is_data` is False for links, devices and
        the like, which copies never bring.
        """
        listed = line is not None and line.listed
        deleted = not listed and is_data and self._is_unwanted(key, line)
        if deleted:
            self._unwanted.add(key)
        elif not listed:
            self._progress.files_unknown += 1
            if line:
                self._kept.add(line)
        if self._folders:
            self._folders[-1].is_emptied |= deleted
            self._folders[-1].is_needed |= not deleted
        return deleted

    def _is_unwanted(self, key: str, line: BroughtName | None) -> bool:
        if self._rule.mirror:
            return self._rule.patterns.take(key)
        return line is not None and self._rule.most is not None and self._brought.is_earlier(line)

    def _leave(self, key: str) -> None:
        """Decide what happens to the folders that the walk has left on its way to `key`."""
        while self._folders and not (key and key.startswith(self._folders[-1].key)):
            folder = self._folders.pop()
            is_ours = folder.is_emptied or self._is_unwanted(folder.key, folder.line)
            if is_ours and not folder.is_needed:
                self._unwanted.add(folder.key)
            if self._folders:
                self._folders[-1].is_needed |= folder.is_needed
                self._folders[-1].is_emptied |= folder.is_emptied

    def _check(self) -> None:
        count, mirror = self._count, self._rule.mirror
        most = mirror.max_delete if mirror else self._rule.most
        if most is None or count <= most:
            return
        why = "" if mirror else ", which copies from an earlier source have brought"
        message = f"{count} files are not in the source{why}, but maxDelete is {most}: none was deleted"
        raise AttemptError(ExitCode.CONFLICT, "TooManyDeletions", message)

    def delete(self) -> None:
        """Delete what is not wanted, and directories that are empty then. Another call deletes nothing more.

        Raises AttemptError (5) before the first deletion if there are more files than are allowed.
        """
        if self._is_deleted:
            return
        self._check()
        self._is_deleted = True
        for key in self._unwanted:
            self._stop.check()
            if key.endswith("/"):
                self._remove_directory(key)
                continue
            with suppress(FileNotFoundError):
                self._tree.remove(key)
            self._progress.files_deleted += 1
            if self._progress.files_deleted <= SHOWN:
                self._log.info("Deleted a file that the source lacks", key=key)

    @property
    def changes(self) -> bool:
        """Whether anything is to be deleted."""
        return any(True for _ in self._unwanted)

    @contextmanager
    def around(self, completion: Completion, *, copies: bool) -> Iterator[None]:
        """Record what is about to change before the block copies files, and delete what is not wanted after it.

        It is deleted before the block if it is in the way. `copies` says whether the block copies anything. At the end
        all changes are durable, and `finish` is to be called.
        """
        if copies or self.changes:
            completion.begin()
            self._brought.begin()
        if self._tree.is_blocked:
            self.delete()
        yield
        self.delete()
        self._tree.root.sync_all()

    def finish(self) -> None:
        """Record that the copy and the deletion are complete."""
        self._brought.finish(BroughtName(*each) for each in self._kept)

    def _remove_directory(self, key: str) -> None:
        try:
            self._tree.remove(key)
        except OSError as error:
            # The directory holds a protected file, a link, or a new file.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise
