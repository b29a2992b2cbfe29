"""Deletion of what syncs have brought to a destination and the present source does not list."""

import errno
import stat
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.listing.dry_run import DryRun
from stowplan.agents.cache.drivers.juicefs.listing.entry import Place
from stowplan.agents.cache.drivers.juicefs.listing.extra import Removable, UnlistedFiles
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.cache.drivers.juicefs.verdict import checked
from stowplan.agents.cache.drivers.work import TaskWork

_FILES = ("--end=\x01",)
"""Arguments with which JuiceFS deletes nothing in a folder whose key is in its list.

It lists such a folder up to this end, and no name begins with less than this character.
"""

_FOLDERS = ("--dirs", "--include=*/", "--exclude=*")
"""Arguments with which JuiceFS deletes folders only. One that is not empty stays."""


@dataclass(frozen=True)
class Removal:
    """Deletes files in one destination, and folders that are empty then. It follows no link."""

    child: Child
    place: Place
    work: TaskWork

    def of(self, extra: UnlistedFiles, claim: ClaimFolder | None) -> None:
        """Delete what `extra` has found: in a claim through its open folder `claim`, in a volume (None) by JuiceFS.

        `claim` must be the folder that `place` names. Only files are deleted that are as they were found. What stays is
        counted as unknown. Raises AttemptError, OSError or StoppedError.
        """
        progress, before = self.work.outcome.progress, self.work.outcome.progress.files_deleted
        with closing(DryRun(self.child, {}, ("--links",)).entries(self.place, "the dataset", strict=False)) as there:
            keys = (self.place.stem + each for each in Removable(extra.doomed(), there).chosen())
            if claim:
                self._in_claim(claim, keys)
            else:
                self._in_volume(keys)
        progress.files_unknown += extra.count - (progress.files_deleted - before)

    def _in_claim(self, root: ClaimFolder, keys: Iterator[str]) -> None:
        for key in keys:
            self.work.stop.check()
            path, _, name = key.removesuffix("/").rpartition("/")
            # Others may have changed it since the listing.
            with (
                suppress(FileNotFoundError, NotADirectoryError),
                root.below(path) if path else nullcontext(root) as folder,
            ):
                found = folder.stat(name)
                if found and stat.S_ISREG(found.st_mode):
                    folder.remove_file(name)
                    self.work.outcome.progress.files_deleted += 1
                elif found and key.endswith("/"):
                    _remove_empty(folder, name)

    def _in_volume(self, keys: Iterator[str]) -> None:
        """Delete by lists of keys: where source and destination are the same, JuiceFS deletes what both have.

        The client's options `--start` and `--end` do not reach files in folders, and patterns would need escapes.
        """
        with WantedKeys.kept() as files, WantedKeys.kept() as folders:
            with files.adding() as add_file, folders.adding() as add_folder:
                for key in keys:
                    (add_folder if key.endswith("/") else add_file)(key, 0)
            for path in files.lists():
                self.work.outcome.progress.files_deleted += self._delete(f"--files-from={path}", *_FILES)
            for path in folders.lists():
                self._delete(f"--files-from={path}", *_FOLDERS)

    def _delete(self, *words: str) -> int:
        own = ("sync", "--metrics=127.0.0.1:0", "--existing", "--delete-src")
        ended = self.child.run(*own, *words, self.place.folder, self.place.folder)
        return checked(ended, "the files of an earlier source").deleted


def _remove_empty(folder: ClaimFolder, name: str) -> None:
    try:
        folder.remove_folder(name)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
