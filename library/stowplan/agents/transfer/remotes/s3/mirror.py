"""Deletion of files that the source lacks, after everything else succeeded."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.patterns import Patterns
from stowplan.agents.transfer.remotes.s3.journal import Ledger
from stowplan.agents.transfer.tree import Found, Tree
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import Mirror

SHOWN = 10
"""Maximum number of deleted files that the log names."""


@dataclass(frozen=True)
class Deletion:
    """Deletes files and directories of one destination that are not in the listing of the source in `ledger`."""

    tree: Tree
    ledger: Ledger
    protected: Sequence[str]
    progress: Progress
    stop: Stop
    log: Log
    patterns: Patterns
    """What they leave out is not deleted either."""

    def run(self, rule: Mirror) -> None:
        """Delete all files that `extra` yields, and those of its directories that are empty then.

        Raises AttemptError (5), before the first deletion, if there are more files than `rule` allows to delete.
        """
        extra = sum(1 for each in self.extra() if not each.key.endswith("/"))
        if rule.max_delete is not None and extra > rule.max_delete:
            message = f"{extra} files are not in the source, but maxDelete is {rule.max_delete}: none was deleted"
            raise AttemptError(ExitCode.CONFLICT, "TooManyDeletions", message)
        # A directory comes before its content, so directories are removed from the end of the list.
        directories: list[str] = []
        for each in self.extra():
            self.stop.check()
            while directories and not each.key.startswith(directories[-1]):
                self._remove_directory(directories.pop())
            if each.key.endswith("/"):
                directories.append(each.key)
            elif rule.max_delete is None or self.progress.files_deleted < rule.max_delete:
                self._remove(each)
        for key in reversed(directories):
            self._remove_directory(key)

    def extra(self) -> Iterator[Found]:
        """Yield files and directories that the source lacks, in ascending order of keys, without links and devices."""
        listing = (entry.key for entry, _ in self.ledger.listing())
        wanted = next(listing, None)
        for each in self.tree.walk(self.protected):
            while wanted is not None and wanted < each.key:
                wanted = next(listing, None)
            needed = wanted is not None and (
                wanted.startswith(each.key) if each.key.endswith("/") else wanted == each.key
            )
            if not needed and not each.left_out and self.patterns.take(each.key):
                yield each

    def _remove(self, found: Found) -> None:
        with suppress(FileNotFoundError):
            self.tree.remove(found.key)
        self.progress.files_deleted += 1
        if self.progress.files_deleted <= SHOWN:
            self.log.info("Deleted a file that the source lacks", key=found.key)

    def _remove_directory(self, key: str) -> None:
        try:
            self.tree.remove(key)
        except OSError as error:
            # The directory holds a protected file, a link, or a new file.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise
