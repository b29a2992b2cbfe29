"""Remove paths from the dataset, and verify the result. Names are literal, not patterns."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.control import Control
from stowplan.agents.cache.drivers.juicefs.tasks import paths
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past, once
from stowplan.agents.cache.drivers.juicefs.verdict import TASK_USER
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.cache_config import RmrConfig
from stowplan.schema.agents.exit_codes import ExitCode

_DENIED = (errno.EACCES, errno.EPERM)


@dataclass(frozen=True)
class RemoveTask:
    """One attempt to remove paths."""

    config: RmrConfig
    work: TaskWork

    def run(self) -> str:
        """Remove the paths and return a sentence about the result. Raises AttemptError, OSError or StoppedError.

        If a path is missing, nothing is removed (AttemptError 4), unless an earlier attempt of this run had begun.
        """
        wanted = [paths.parts(path) for path in self.config.paths]
        if () in wanted:
            raise AttemptError(
                ExitCode.BAD_SPEC, "BadPath", "The dataset itself cannot be removed: name what is below it"
            )
        state = MountedState(self._mount)
        marks = Marks(state, self.work.run)
        with self._told():
            past = marks.look()
            if not past.is_done:
                Control(self._mount, self.work.stop).probe()
                # Checked before the first write, so that a misspelt path is reported at once.
                self._check(wanted, past)
            locked = Lock(state, self.work.run or "rmr", self.work.stop, self.work.log).held()
            change = partial(self._change, wanted, marks)
            return once(self.work, marks, past, locked, change, what="the removal")

    def _change(self, wanted: list[tuple[str, ...]], marks: Marks, past: Past) -> str:
        with self._told():
            self._check(wanted, past)
            marks.begin(past)
            text = self._remove(wanted)
            marks.end({})
            return text

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise _denied(str(error.filename or self._mount)) from None

    def _check(self, wanted: list[tuple[str, ...]], past: Past) -> None:
        """Raise AttemptError (exit code 4) if a wanted path is missing.

        Do nothing if an earlier attempt of this run began to remove paths, since that attempt may have removed it.
        """
        if self.work.run and past.begun == self.work.run:
            return
        missing = [names for names in wanted if not self._is_there(names)]
        if missing:
            named = ", ".join(repr("/".join(names)) for names in missing[:10])
            message = f"There is no {named} in the dataset: nothing was removed"
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", message)

    def _is_there(self, names: tuple[str, ...]) -> bool:
        with paths.opened(self._mount, names) as entry:
            return entry is not None and entry.found is not None

    def _remove(self, wanted: list[tuple[str, ...]]) -> str:
        control, progress = Control(self._mount, self.work.stop), self.work.outcome.progress
        for names in wanted:
            self.work.stop.check()
            with paths.opened(self._mount, names) as entry:
                if entry is None or entry.found is None:
                    continue
                before = progress.files_deleted

                def tell(files: int, _: int, before: int = before) -> None:
                    progress.files_deleted = before + files

                code = control.remove(entry.folder_inode, os.fsencode(entry.name), tell)
                if code in _DENIED:
                    raise _denied("/".join(names))
                if code not in (0, errno.ENOENT):
                    message = f"{'/'.join(names)!r} cannot be removed: {os.strerror(code)}"
                    raise AttemptError(ExitCode.TRANSIENT, "RemoveFailed", message)
                _prove(entry, "/".join(names))
        return f"{len(wanted)} paths are gone"

    @property
    def _mount(self) -> Path:
        return Path(self.config.mount_path)


def _prove(entry: paths.PathEntry, path: str) -> None:
    """Check that an entry is gone by removing it once more. Raises AttemptError if it still exists.

    A removal always asks the metadata engine; `stat` might answer from the kernel's cache. `path` is for messages.
    """
    is_folder = entry.found is not None and stat.S_ISDIR(entry.found.st_mode)
    remove = entry.folder.remove_folder if is_folder else entry.folder.remove_file
    try:
        remove(entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno in _DENIED:
            raise _denied(path) from None
        message = f"{path!r} is still there: {error.strerror}"
        raise AttemptError(ExitCode.TRANSIENT, "StillThere", message) from None


def _denied(path: str) -> AttemptError:
    return AttemptError(ExitCode.AUTH, "NoPermission", f"No permission to remove {path!r}: {TASK_USER}")
