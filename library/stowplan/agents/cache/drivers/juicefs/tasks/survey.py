"""What a sync is about to copy: the listings of its source and its destination, compared."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.listing.comparison import Choice, Comparison
from stowplan.agents.cache.drivers.juicefs.listing.dry_run import DryRun
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry, Place
from stowplan.agents.cache.drivers.juicefs.listing.record import LARGEST, NewRecord, Record, file_name
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.cache.drivers.juicefs.source_listing import SourceListing, has_bucket_in_path
from stowplan.agents.cache.drivers.juicefs.sync import Sync
from stowplan.agents.cache.drivers.juicefs.tasks.destination import Destination
from stowplan.agents.cache.drivers.juicefs.tasks.work import TaskWork
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
class Survey:
    """Lists and compares for one sync. Nothing of the dataset is changed."""

    config: SyncConfig
    work: TaskWork
    copy: Sync
    place: Destination
    source: SourceListing

    @property
    def is_decided(self) -> bool:
        """Whether the options say which files are copied again."""
        return bool(DECIDING & set(self.config.flags))

    def run(self, wanted: WantedKeys) -> tuple[Comparison, str | None]:
        """Compare, and return the result and the hash of the source's listing; None if it is no S3 store.

        Raises AttemptError if a side cannot be listed, and CONFLICT (5) if a key of the source cannot be a file; raises
        StoppedError if the work must stop.
        """
        prefix, progress = self.source.prefix, self.work.outcome.progress
        if prefix:
            kept = None if self.is_decided else self.place.state.fetch(self._name, LARGEST)
            record, listing = Record.read(kept), ListingHash()
            compared = Comparison(self._choice(), record, wanted)
            try:
                self._compare(compared, _told(self.source.entries(prefix, listing)))
            except _UnlistedError as error:
                self.work.log.warning("The source is listed by juicefs, without ETags", error=str(error))
                progress.left_out.clear()
            else:
                return compared, listing.revision
        compared = Comparison(self._choice(), Record(), wanted)
        self._compare(compared, self._theirs().entries(self._from(), self._what, strict=True))
        return compared, None

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
        return Choice(
            Patterns(config.include or (), config.exclude or ()),
            Place.of(self.place.address).stem,
            frozenset({STATE_DIRECTORY, *self.copy.reserved}),
            times=urlsplit(config.source).scheme.lower() not in WITHOUT_TIMES,
        )

    def keep(self, record: NewRecord, known: bytes | None) -> None:
        """Write the record of the versions that the dataset holds, unless it is `known`, the present content."""
        content = record.content()
        if record.count and content is None:
            self.work.log.warning("The source has too many objects: their ETags are not kept", count=record.count)
        if content is not None and content != known:
            self.place.state.write({self._name: content})

    @property
    def _name(self) -> str:
        return file_name(self.config.destination)


def _told(entries: Generator[Entry]) -> Generator[Entry]:
    with closing(entries):
        try:
            yield from entries
        except AttemptError as error:
            raise _UnlistedError(str(error)) from error
