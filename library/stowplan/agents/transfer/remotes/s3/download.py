"""Download of a source's objects to a directory of a claim."""

import math
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.copying.newness import SECOND, Stamp
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.in_parts import fetch_in_parts
from stowplan.agents.transfer.parts import ChangedError, check_space, identities, sweep
from stowplan.agents.transfer.remotes.s3.archives import Archives
from stowplan.agents.transfer.remotes.s3.fetch import S3Fetcher
from stowplan.agents.transfer.remotes.s3.journal import FinishedEntries, Journal
from stowplan.agents.transfer.remotes.s3.protocol.entry import KeyLookup, S3Object, written
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.settings import S3Settings
from stowplan.agents.transfer.remotes.s3.source import ObjectSource
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.remotes.s3_listing import ListingHash

ROUNDS = 3
"""Maximum number of fetches of one object that changes during each of them."""

LISTING_SHARE = 0.1
"""Maximum size of the file with the listing, as a fraction of the claim's free space."""

SAVE_SECONDS, SYNC_SECONDS = 0.5, 10.0
"""Seconds between two saves of the progress, and between two saves that first sync all files to disk."""


@dataclass
class S3Download:
    """Download of one source in one attempt: fold the journal, call `compare`, then `fetch`, which ends the pool."""

    source: ObjectSource
    client: RestClient
    fetcher: S3Fetcher
    journal: Journal
    pool: ThreadPool
    settings: S3Settings
    listed: int = 0
    """Number of entries in the listing."""
    wanted: int = 0
    """Number of entries that must be fetched."""
    done: FinishedEntries = field(default_factory=FinishedEntries)
    listing: ListingHash = field(default_factory=ListingHash)
    _check: KeyCheck | None = None
    _again: list[tuple[int, S3Object]] = field(default_factory=list)
    """Objects that changed while they were fetched, with their index in the listing."""

    @property
    def work(self) -> TransferWork:
        return self.fetcher.work

    def compare(self, check: KeyCheck) -> None:
        """List the whole source and compare it with the destination, which this does not change.

        The listing is stored in the journal, with a flag for each object that must be fetched.

        Raises AttemptError (exit code 5) if a key is invalid below the destination, if the free space is too small, if
        the listing is not the expected one, or if an object is in an archive. Raises UnsortedError if the store lists
        keys in another order: then compare by the download that `sorting` returns.
        """
        wanted_bytes = written_size = 0
        most, self._check = self._most_listed(), check
        leftover = identities(self.fetcher.folder)
        known, archives = KeyLookup(self.journal.known()), Archives(self.client, self.source.prefix)
        with self.journal.new_listing() as file:
            for entry in self.source.entries(self.client, self.listing):
                self.work.stop.check()
                if not check.look(entry.key, entry.size):
                    continue
                wanted = not self._is_there(entry, known.at(entry.key))
                written_size += file.write(written(entry, wanted=wanted))
                if written_size > most:
                    raise _endless(self.listed)
                if wanted and entry.size > self.settings.part_size(entry.size):
                    leftover.discard(entry.identity)
                self._count(entry, wanted=wanted)
                wanted_bytes += entry.size * wanted
                if wanted:
                    archives.look(entry)
            if check.count:
                raise check.error("Nothing was written")
        self._check_revision()
        archives.check()
        # Parts of other versions of the objects.
        sweep(self.fetcher.folder, leftover)
        check_space(self.fetcher.tree.root, self.fetcher.folder, wanted_bytes, self.wanted)

    def sorting(self) -> "S3Download":
        """Return a new download for a store that lists keys in another order than the ascending one."""
        fresh: dict[str, Any] = {"listed": 0, "wanted": 0, "done": FinishedEntries(), "listing": ListingHash()}
        return replace(self, source=replace(self.source, must_sort=True), **fresh)

    @property
    def revision(self) -> str | None:
        """The hash of the listing, once `fetch` has ended; None if an object changed after it was listed."""
        return None if self.done.replaced else self.listing.revision

    def fetch(self) -> None:
        """Fetch the objects that `compare` found missing or changed. Raises AttemptError if one cannot be fetched."""
        with self._notes():
            wanted = self._wanted()
            for round_ in range(1, ROUNDS + 1):
                for index, entry in wanted:
                    self.done.wait_for_window(index, self.work.stop)
                    self._begin(index, entry)
                self.pool.drain()
                changed, self._again = self._again, []
                if not changed:
                    break
                if round_ == ROUNDS:
                    for index, entry in changed:
                        self._failed(index, _unsteady(entry))
                    break
                wanted = self._renewed(changed)
            self.pool.end()
        if self.settings.remote.revision and self.revision is None:
            # The next attempt lists the source again, and finds another listing than the expected one.
            raise AttemptError(ExitCode.TRANSIENT, "Changed", "The source changed while it was copied")
        if self.done.below != self.listed:
            message = f"{self.listed} objects were listed, but only {self.done.below} are there"
            raise AttemptError(ExitCode.INTEGRITY, "Incomplete", message)

    def _check_revision(self) -> None:
        found, wanted = self.listing.revision, self.settings.remote.revision
        if wanted and found != wanted:
            message = f"The source holds {found}, and {wanted} is wanted: objects were added, changed or removed"
            raise AttemptError(ExitCode.CONFLICT, "OtherRevision", message)

    def _wanted(self) -> Iterator[tuple[int, S3Object]]:
        """Yield the objects to fetch, each with its index in the listing, and mark the other entries as finished.

        It ends with a failure at an object that cannot have been listed: the file with the listing is in the claim.
        """
        for index, (entry, wanted) in enumerate(self.journal.listing()):
            if index >= self.listed or (wanted and not self._may_be_listed(entry.key)):
                message = f"Others have changed the listing in the claim: {entry.key[:200]!r} was not in it"
                self.pool.failed(AttemptError(ExitCode.INTEGRITY, "Incomplete", message))
                return
            if wanted:
                yield index, entry
            else:
                self.done.add(index)

    def _may_be_listed(self, key: str) -> bool:
        return self.source.takes(key) and not (self._check and self._check.refusal(key))

    def _count(self, entry: S3Object, *, wanted: bool) -> None:
        self.listed += 1
        self.wanted += wanted
        if entry.is_folder:
            return
        self.work.progress.files_total += 1
        self.work.progress.bytes_total += entry.size
        if not wanted:
            self.work.progress.unchanged(entry.size)

    def _is_there(self, entry: S3Object, known: S3Object | None) -> bool:
        status = self.fetcher.tree.stat(entry.key)
        if entry.is_folder:
            return status is not None and stat.S_ISDIR(status.st_mode)
        return known == entry and Stamp(entry.size, entry.modified * SECOND).agrees(Stamp.of(status), SECOND)

    def _most_listed(self) -> float:
        """Return the maximum characters of the file with the listing; infinity if the file system reports no size."""
        free = os.statvfs(self.fetcher.tree.root.descriptor)
        return free.f_bavail * free.f_frsize * LISTING_SHARE if free.f_blocks else math.inf

    def _begin(self, index: int, entry: S3Object) -> None:
        if entry.is_folder:
            self.fetcher.tree.make_directory(entry.key)
            self.done.add(index)
        elif entry.size <= (size := self.settings.part_size(entry.size)):
            self.pool.give(partial(self._whole, index, entry))
        else:
            size = self.fetcher.prepare(entry, size)
            fetch_in_parts(self.fetcher, entry, size, self.pool, partial(self._ended, index, entry))

    def _whole(self, index: int, entry: S3Object) -> None:
        try:
            self.fetcher.whole(entry)
        except Exception as error:
            self._ended(index, entry, error)
        else:
            self._ended(index, entry, None)

    def _ended(self, index: int, entry: S3Object, error: Exception | None) -> None:
        """Record that an object was fetched, or failed with `error`. A changed object is noted for another fetch."""
        if error is None:
            if index in self.done.replaced:
                self.done.replace(index, entry)
            else:
                self.done.add(index)
            return
        match of_any(error, entry.key):
            case ChangedError():
                self.work.log.warning("An object has changed: it is fetched from its beginning", key=entry.key)
                self.done.replace(index, None)
                self._again.append((index, entry))
            case AttemptError() as failure:
                self._failed(index, failure)
            case stopped:
                raise stopped

    def _failed(self, index: int, failure: AttemptError) -> None:
        self.done.replace(index, None)
        self.pool.failed(failure)

    def _renewed(self, changed: list[tuple[int, S3Object]]) -> Iterator[tuple[int, S3Object]]:
        for index, entry in changed:
            try:
                now = self.fetcher.reader.now(entry)
            except AttemptError as failure:
                self._failed(index, failure)
                continue
            self.work.progress.bytes_total += now.size - entry.size
            yield index, now

    @contextmanager
    def _notes(self) -> Iterator[None]:
        """During the block, save the progress at regular intervals in a thread, and once more at its end."""
        over = threading.Event()

        def note() -> None:
            synced_at = time.monotonic()
            while not over.wait(SAVE_SECONDS):
                if due := time.monotonic() - synced_at >= SYNC_SECONDS:
                    synced_at = time.monotonic()
                self.save(synced=due)

        thread = threading.Thread(target=note, daemon=True)
        self.save(synced=False)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            # After a signal the process cannot wait for the disk.
            self.save(synced=self.work.stop.why != "signal")

    def save(self, *, synced: bool) -> None:
        """Save which objects are finished. With `synced`, their files are made durable before."""
        marks = self.done.snapshot()
        if synced:
            self.fetcher.tree.root.sync_all()
        self.journal.save(marks, synced=synced)


def _endless(count: int) -> AttemptError:
    message = (
        f"The listing of the source does not end: after {count} objects it takes more than {LISTING_SHARE:.0%} of the"
        " free space of the claim. Give the claim more space, or name a prefix with fewer objects"
    )
    return AttemptError(ExitCode.CONFLICT, "NoSpace", message)


def _unsteady(entry: S3Object) -> AttemptError:
    message = f"{entry.key} changed {ROUNDS} times while it was fetched"
    return AttemptError(ExitCode.TRANSIENT, "ChangesAllTheTime", message)
