"""What a sync is about to copy: the listings of its source and its destination, compared."""

from collections.abc import Generator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.listing.brought import LARGEST as LARGEST_BROUGHT
from stowplan.agents.cache.drivers.juicefs.listing.brought import SUFFIX, BroughtHashes
from stowplan.agents.cache.drivers.juicefs.listing.comparison import Choice, Comparison
from stowplan.agents.cache.drivers.juicefs.listing.dry_run import DryRun
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry, Place
from stowplan.agents.cache.drivers.juicefs.listing.extra import UnlistedFiles
from stowplan.agents.cache.drivers.juicefs.listing.record import LARGEST, NewVersionRecord, VersionRecord, file_name
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.cache.drivers.juicefs.source_listing import SourceListing, has_bucket_in_path
from stowplan.agents.cache.drivers.juicefs.sync import SELECTING, Sync
from stowplan.agents.cache.drivers.juicefs.tasks.destination import Destination
from stowplan.agents.cache.drivers.juicefs.tasks.removal import Removal
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.agents.copying.keys import PROTECTED
from stowplan.agents.copying.patterns import Patterns
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.juicefs.options import WITHOUT_TIMES
from stowplan.schema.remotes.s3_listing import ListingHash

DECIDING = frozenset(
    {
        "check-all",
        "delete-src",
        "dry",
        "existing",
        "force-update",
        "ignore-existing",
        "limit",
        "links",
        "max-age",
        "min-age",
        "update",
    }
)
"""Options that say which files are copied again: with one of them `juicefs sync` does what it says."""


class _UnlistedError(Exception):
    """The client for S3 stores cannot list the source; `juicefs` perhaps can."""


@dataclass(frozen=True)
class SyncSurvey:
    """Lists and compares for one sync. Call `run`, `begin` before the first change, and `finish` after the last one."""

    config: SyncConfig
    work: TaskWork
    copy: Sync
    place: Destination
    source: SourceListing

    @property
    def is_decided(self) -> bool:
        """Whether the options say which files are copied again."""
        return bool(DECIDING & set(self.config.flags))

    @property
    def tells_unknown(self) -> bool:
        """Whether the comparison says what the destination has besides, and what of it is deleted."""
        return not self.is_decided and not (SELECTING | {"delete-dst"}) & set(self.config.flags)

    def run(self, wanted: WantedKeys) -> tuple[Comparison, str | None]:
        """Compare, and return the result and the hash of the source's listing; None if it is no S3 store.

        Nothing of the dataset is changed. `wanted` gets the keys to fetch one by one. Raises AttemptError if a side
        cannot be listed, and CONFLICT (5) if a key of the source cannot be a file, or if too many files would be
        deleted; raises StoppedError if the work must stop.
        """
        prefix, progress = self.source.prefix, self.work.outcome.progress
        known = self.place.state.fetch(f"{self._name}{SUFFIX}", LARGEST_BROUGHT) if self.tells_unknown else None
        if prefix:
            kept = None if self.is_decided else self.place.state.fetch(self._name, LARGEST)
            record, listing = VersionRecord.read(kept), ListingHash()
            compared = Comparison(self._choice(), record, wanted, self._extra(known))
            try:
                self._compare(compared, _told(self.source.entries(prefix, listing)))
            except _UnlistedError as error:
                self.work.log.warning("The source is listed by juicefs, without ETags", error=str(error))
                progress.left_out.clear()
            else:
                self._decide(compared.extra)
                return compared, listing.revision
        compared = Comparison(self._choice(), VersionRecord(), wanted, self._extra(known))
        self._compare(compared, self._theirs().entries(self._from(), self._what, strict=True))
        self._decide(compared.extra)
        return compared, None

    def _decide(self, extra: UnlistedFiles | None) -> None:
        """Make sure that what is to be deleted can be, and is not too much."""
        if not extra or not extra.count:
            return
        if extra.begun() is None:
            self.work.log.warning("There are too many files to record them: none of an earlier source is deleted")
            extra.spare()
        elif self.config.mount_path is None and not self.copy.takes_lists():
            self.work.log.warning("This version of JuiceFS takes no list: no file of an earlier source is deleted")
            extra.spare()
        extra.check()

    def _compare(self, compared: Comparison, source: Generator[Entry]) -> None:
        flags, ours = self.copy.selecting(), DryRun(self.place.child, {})
        with (
            closing(source),
            closing(self._theirs().chosen(self.config.source, flags, self._what)) as chosen,
            closing(ours.entries(Place.of(self.place.address), "the dataset", strict=False)) as there,
        ):
            progress = self.work.outcome.progress
            compared.run(source, chosen if flags else None, None if self.is_decided else there, progress)

    def _theirs(self) -> DryRun:
        return DryRun(self.place.child, self.copy.variables, tuple(self.copy.access()))

    @property
    def _what(self) -> str:
        return f"the source {self.config.source}"

    def _from(self) -> Place:
        parts = urlsplit(self.config.source)
        in_path = has_bucket_in_path(parts.scheme.lower(), parts.netloc)
        return Place.of(self.config.source, bucket_in_path=in_path)

    def _choice(self) -> Choice:
        config = self.config
        reserved = frozenset({STATE_DIRECTORY, *self.copy.reserved})
        return Choice(
            Patterns(config.include or (), config.exclude or ()),
            Place.of(self.place.address).stem,
            reserved,
            reserved.union(() if config.mount_path is None else PROTECTED),
            times=urlsplit(config.source).scheme.lower() not in WITHOUT_TIMES,
        )

    def delete(self, extra: UnlistedFiles) -> None:
        """Delete the files that `extra` has chosen, and folders that are empty then (`Removal`)."""
        with self.place.folder() or nullcontext() as folder:
            Removal(self.place.child, Place.of(self.place.address), self.work).of(extra, folder)

    def begin(self, compared: Comparison) -> None:
        """Write the records to have before the first change of the dataset."""
        files = self._versions(compared.before, compared.record.content())
        if extra := compared.extra:
            files |= self._names(extra.begun(), extra.brought)
        self._write(files)

    def finish(self, compared: Comparison) -> None:
        """Write the records to have after the last change."""
        files = self._versions(compared.after, compared.before.content())
        if extra := compared.extra:
            files |= self._names(extra.finished(), extra.begun())
        self._write(files)

    def _versions(self, record: NewVersionRecord, known: bytes | None) -> dict[str, bytes]:
        """Return the record of the versions that the dataset holds as a file, unless it is `known`."""
        content = record.content()
        if record.count and content is None:
            self.work.log.warning("The source has too many objects: their ETags are not kept", count=record.count)
        return {self._name: content} if content is not None and content != known else {}

    def _names(self, record: BroughtHashes | None, known: BroughtHashes | None) -> dict[str, bytes]:
        """Return the record of the files that syncs have brought as a file, unless it is `known`."""
        if record is None:
            self.work.log.warning("There are too many files to record that a sync has brought them")
            self.place.state.remove([f"{self._name}{SUFFIX}"])
        return {f"{self._name}{SUFFIX}": record.content()} if record and record != known else {}

    def _write(self, files: dict[str, bytes]) -> None:
        if files:
            self.place.state.write(files)

    def _extra(self, brought: bytes | None) -> UnlistedFiles | None:
        if not self.tells_unknown:
            return None
        target, dataset = self.config.target, self.config.dataset
        own = f"{target.kind}/{target.namespace}/{target.name}"
        # A DatasetTask copies from the source of its dataset.
        owner = f"Dataset/{target.namespace}/{dataset}" if target.kind in ("Dataset", "DatasetTask") else own
        return UnlistedFiles(BroughtHashes.read(brought, owner, self.config.source), self.config.max_delete)

    @property
    def _name(self) -> str:
        return file_name(self.config.destination)


def _told(entries: Generator[Entry]) -> Generator[Entry]:
    with closing(entries):
        try:
            yield from entries
        except AttemptError as error:
            raise _UnlistedError(str(error)) from error
