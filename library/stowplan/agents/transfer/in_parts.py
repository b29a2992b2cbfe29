"""Download of a large file in parts, which several threads fetch."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, Protocol

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError, StoppedError, contained
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.parts import ChangedError, Extent, P, PartFile
from stowplan.agents.transfer.thread_pool import Countdown, ThreadPool
from stowplan.schema.agents.exit_codes import ExitCode


class PartFetcher(Protocol[P]):
    """Interface of an engine's class that fetches the parts of large files."""

    folder: ClaimFolder
    """Folder for incomplete files, on the file system of the destination."""
    work: TransferWork

    def part(self, parts: PartFile[P], extent: Extent) -> None:
        """Fetch the bytes of `extent` and write them to `parts`."""

    def complete(self, parts: PartFile[P]) -> None:
        """Verify a file of which all parts are present, and move it to its path in the destination."""


class DownloadInParts(Generic[P]):
    """Download of one large file whose parts are separate tasks. The last task to end completes the file.

    `ended` is then called with the first error of any part, or None; it is not called after a StoppedError. Fetched
    parts are deleted if the file has changed since, or if they are damaged.
    """

    def __init__(
        self,
        fetcher: PartFetcher[P],
        entry: P,
        part_size: int,
        ended: Callable[[Exception | None], None],
    ) -> None:
        self._fetcher, self._ended = fetcher, ended
        self._parts = PartFile(fetcher.folder, entry, part_size)
        self._missing = self._parts.missing
        self._countdown = Countdown(len(self._missing), self._end)
        present = self._parts.present
        fetcher.work.progress.add(resumed=present)
        if present:
            fetcher.work.log.info("Goes on with a file that is partly there", key=entry.key, bytes=present)

    def give(self, pool: ThreadPool) -> None:
        """Give the missing parts to a pool as tasks, or the completion of the file if none is missing."""
        for extent in self._missing:
            pool.give(partial(self._countdown.run, partial(self._fetcher.part, self._parts, extent)))
        if not self._missing:
            pool.give(self._end)

    def _end(self, error: Exception | None = None) -> None:
        """Complete the file, or clean up after `error`, the first error of a part."""
        if error is None:
            try:
                self._fetcher.complete(self._parts)
            except BaseException as failure:
                error = contained(failure)
        if error is not None:
            present = self._parts.present
            with suppress(OSError):
                self._parts.close()
            damaged = isinstance(error, AttemptError) and error.code is ExitCode.INTEGRITY
            if damaged or isinstance(error, ChangedError):
                self._parts.forget()
                self._fetcher.work.progress.add(size=-present)
        if not isinstance(error, StoppedError):
            self._ended(error)
