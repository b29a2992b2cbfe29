"""Download of a large file in parts, which several threads fetch."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

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
        """Fetch `extent` into `parts.draft`, call `parts.done`, and count it in the progress. Any thread calls this."""

    def complete(self, parts: PartFile[P]) -> None:
        """Verify a file with all of its parts, move it to its path in the destination, and count it in the progress."""


def fetch_in_parts(
    fetcher: PartFetcher[P], entry: P, part_size: int, pool: ThreadPool, ended: Callable[[Exception | None], None]
) -> None:
    """Give the missing parts of one large file to a pool as tasks. The last task to end completes the file.

    `ended` is then called in its thread, with the first error of any part or of the completion, or None; it is not
    called after a StoppedError. `part_size` in bytes is for a file that no earlier attempt began. Fetched parts are
    deleted if the file has changed since, or if they are damaged. Raises OSError for the file, and StoppedError.
    """
    parts = PartFile(fetcher.folder, entry, part_size)
    missing, present = parts.missing, parts.present
    fetcher.work.progress.add(resumed=present)
    if present:
        fetcher.work.log.info("Goes on with a file that is partly there", key=entry.key, bytes=present)
    end = partial(_end, fetcher, parts, ended)
    countdown = Countdown(len(missing), end)
    for extent in missing:
        pool.give(partial(countdown.run, partial(fetcher.part, parts, extent)))
    if not missing:
        pool.give(partial(end, None))


def _end(
    fetcher: PartFetcher[P], parts: PartFile[P], ended: Callable[[Exception | None], None], error: Exception | None
) -> None:
    """Complete the file, or clean up after `error`, the first error of a part."""
    if error is None:
        try:
            fetcher.complete(parts)
        except BaseException as failure:
            error = contained(failure)
    if error is not None:
        present = parts.present
        with suppress(OSError):
            parts.close()
        damaged = isinstance(error, AttemptError) and error.code is ExitCode.INTEGRITY
        if damaged or isinstance(error, ChangedError):
            parts.forget()
            fetcher.work.progress.add(size=-present)
    if not isinstance(error, StoppedError):
        ended(error)
