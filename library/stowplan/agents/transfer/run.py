"""Course of one attempt: it locks the destination, lets the engine copy, and writes the completion files."""

import errno
import os
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.failure import AttemptError, StoppedError, of_any
from stowplan.agents.attempt.lock import LockFile, held
from stowplan.agents.transfer.engine import Engine, TransferWork
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY, marker_path
from stowplan.schema.agents.transfer_config import PvcEndpoint, State
from stowplan.schema.kinds.table import DATASET_KINDS

_NO_RIGHT = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of a file system to which this process may not write."""

_ADVICE = (
    "Files of a source keep their owner and group: `executor.securityContext` may name a `runAsUser` or"
    " `supplementalGroups` that can read them"
)


@dataclass(frozen=True)
class TransferRun:
    """One attempt of a transfer, with one engine."""

    settings: TransferSettings
    engine: Engine
    work: TransferWork

    def all(self) -> str:
        """Copy and return a sentence about the result. Raises AttemptError or StoppedError.

        A download always waits for the lock of the destination, copies nothing if this run has succeeded before, and
        writes completion files. An upload does so only if it has a state directory that it can write.
        """
        if not self.settings.claim.is_dir():
            raise AttemptError(
                ExitCode.NOT_FOUND, "NoClaim", f"{self.settings.claim} is not there: is the claim mounted?"
            )
        state = self.settings.config.state
        if state and not self.settings.upload:
            return self._recorded(state)
        try:
            if state and _is_open(self.settings.claim, state, self.settings.run):
                return self._recorded(state)
            if state:
                self.work.log.warning("The claim cannot be written to: nothing is remembered of this upload")
            text = self.engine.upload(self.work, None)
            self._check_whole()
        except Exception as error:
            raise self._advised(of_any(error, "the transfer")) from None
        return text

    def _recorded(self, state: State) -> str:
        """Copy while holding a lock, write completion files, and return a sentence about the result.

        If the completion files say that this run has already succeeded, nothing is copied.
        """
        with closing(_make(self.settings.claim, state)) as tree:
            return self._copied(state, tree.root)

    def _copied(self, state: State, folder: ClaimFolder) -> str:
        """Do what `_recorded` does; `folder` is the state directory of the transfer."""
        claim, directory = self.settings.claim, state.directory
        dataset = None if state.dataset is None else claim / state.dataset
        # The state directory of a transfer that changes a dataset lies in that of the dataset.
        changed = claim / directory.partition(STATE_DIRECTORY)[0] if not (dataset or self.settings.upload) else None
        # A Dataset's own transfer that does not complete it is a refresh. A task copies from the Dataset's source too.
        target, source = self.settings.config.target.kind, self.settings.config.source
        renews = target in ("Dataset", "DatasetTask") and not isinstance(source, PvcEndpoint)
        completion = Completion(
            claim, claim / directory, self.settings.run, dataset, changed=changed, renews=renews and changed is not None
        )
        if completion.is_done():
            self.work.outcome.revision = completion.revision
            return "This run was complete before: nothing to do"
        with self._locked(state):
            if completion.is_done():
                # While this attempt waited for the lock, another one of the same run has finished.
                self.work.outcome.revision = completion.revision
                return "This run was complete before: nothing to do"
            try:
                text = self._copy(folder, completion)
                self._check_whole()
            except Exception as error:
                failure = of_any(error, "the transfer")
                if isinstance(failure, AttemptError):
                    completion.end(failure.code, {})
                if target in DATASET_KINDS:
                    self.work.outcome.revision = completion.present
                raise failure from None
            completion.end(ExitCode.DONE, self._summary())
        return text

    def _locked(self, state: State) -> AbstractContextManager[None]:
        """Return a context manager that holds the lock of the destination."""
        run, claim, work = self.settings.run or "stowplan-transfer", self.settings.claim, self.work
        if state.shared is None:
            return held(LockFile(claim, state.lock), run, work.stop, work.log)
        place = MountedState(claim, str(PurePosixPath(state.shared, STATE_DIRECTORY)))
        return Lock(place, run, work.stop, work.log).held()

    def _check_whole(self) -> None:
        """Raise AttemptError (exit code 11) unless the progress counts every file, and every byte of it, as done.

        The error shows a defect of an engine: a correct engine raises an earlier error for each file that failed.
        """
        counts = self.work.progress.snapshot()
        total = counts["filesTotal"]
        files = total - counts["filesDone"]
        # A Hub counts the bytes of an upload by chunks, which it may request again.
        size = 0 if self.settings.upload else counts["bytesTotal"] - counts["bytesDone"]
        if files or size:
            message = f"The run came to its end, but {files} of {total} files and {size} bytes are missing"
            raise AttemptError(ExitCode.INTEGRITY, "Incomplete", message)

    def _summary(self) -> dict[str, int | str]:
        revision = self.work.outcome.revision
        return {**self.work.progress.snapshot(), **({"revision": revision} if revision else {})}

    def _copy(self, folder: ClaimFolder, completion: Completion) -> str:
        if self.settings.upload:
            completion.begin()
            return self.engine.upload(self.work, folder)
        return self.engine.download(self.work, folder, completion)

    def _advised(self, failure: AttemptError | StoppedError) -> AttemptError | StoppedError:
        """Return the failure, with advice in its message if it is about missing file permissions.

        Only a DataCube can name another user.
        """
        of_cube = self.settings.config.target.kind == "DataCube"
        if of_cube and isinstance(failure, AttemptError) and failure.reason == "NoAccess":
            return AttemptError(failure.code, failure.reason, f"{failure}. {_ADVICE}")
        return failure


def _make(claim: Path, state: State) -> Tree:
    """Create the directory of the lock file and the state directory in the claim, and return the latter."""
    Tree(claim, str(PurePosixPath(state.lock).parent), create=True).close()
    return Tree(claim, state.directory, create=True)


def _is_open(claim: Path, state: State, run: str | None) -> bool:
    """Return whether this process may write state and completion files to the claim. File permissions may forbid it."""
    try:
        _make(claim, state).close()
    except OSError as error:
        if error.errno in _NO_RIGHT:
            return False
        raise
    lock, marker = claim / state.lock, claim / marker_path(run or "")
    places = (claim / STATE_DIRECTORY, claim / state.directory, lock.parent, lock, marker.parent, marker)
    return all(os.access(each, os.W_OK) for each in places if each.exists())
