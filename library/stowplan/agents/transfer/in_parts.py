"""Download of a large file in parts, which several threads fetch."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, Protocol

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import StoppedError, contained
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.parts import Extent, P, PartFile
from stowplan.agents.transfer.thread_pool import Countdown


class PartFetcher(Protocol[P]):
    """Interface of an engine's class that fetches the parts of large files."""

    folder: ClaimFolder
    """Folder for incomplete files, on the file system of the destination."""
    progress: Progress
    log: Log

    def part(self, parts: PartFile[P], extent: Extent) -> None:
        """Fetch the bytes of `extent` and write them to `parts`."""

    def complete(self, parts: PartFile[P]) -> None:
        """Verify a file of which all parts are present, and move it to its path in the destination."""


class DownloadInParts(Generic[P]):
    """Download of one large file whose parts are separate tasks. The last task to end completes the file.

    `ended` is then called with the first error of any part, or None; it is not called after a StoppedError. `is_spoilt`
    returns whether an error makes the fetched parts useless. They are then deleted.
    """

    def __init__(
        self,
        fetcher: PartFetcher[P],
        entry: P,
        part_size: int,
        ended: Callable[[Exception | None], None],
        is_spoilt: Callable[[Exception], bool],
    ) -> None:
        self._fetcher, self._ended, self._is_spoilt = fetcher, ended, is_spoilt
        self._parts = PartFile(fetcher.folder, entry, part_size)
        self.missing = self._parts.missing
        self._countdown = Countdown(len(self.missing), self.end)
        present = self._parts.present
        fetcher.progress.add(resumed=present)
        if present:
            fetcher.log.info("Goes on with a file that is partly there", key=entry.key, bytes=present)

    def fetch(self, extent: Extent) -> None:
        """Fetch one part, as a task of the thread pool."""
        self._countdown.run(partial(self._fetcher.part, self._parts, extent))

    def end(self, error: Exception | None = None) -> None:
        """Complete the file, or clean up after `error`, the first error of a part.

        The last part calls this. If no part is missing at the beginning, the owner of this object must call it.
        """
        if error is None:
            try:
                self._fetcher.complete(self._parts)
            except BaseException as failure:
                error = contained(failure)
        if error is not None:
            present = self._parts.present
            with suppress(OSError):
                self._parts.close()
            if self._is_spoilt(error):
                self._parts.forget()
                self._fetcher.progress.add(size=-present)
        if not isinstance(error, StoppedError):
            self._ended(error)
