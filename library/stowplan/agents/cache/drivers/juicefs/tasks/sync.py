"""Copy from a source into the dataset. Files that the dataset already has unchanged are skipped."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from stowplan.agents.attempt.failure import AttemptError, StoppedError, of_any
from stowplan.agents.cache.drivers.juicefs import credentials
from stowplan.agents.cache.drivers.juicefs.source_listing import SourceListing
from stowplan.agents.cache.drivers.juicefs.sync import Sync
from stowplan.agents.cache.drivers.juicefs.tasks import destination
from stowplan.agents.cache.drivers.juicefs.tasks.destination import Destination
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past
from stowplan.agents.cache.drivers.juicefs.tasks.work import TaskWork
from stowplan.agents.cache.drivers.juicefs.verdict import Count
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class SyncTask:
    """One attempt to copy."""

    config: SyncConfig
    work: TaskWork
    environment: Mapping[str, str]

    _PARTIAL: ClassVar[frozenset[str]] = frozenset({"existing", "ignore-existing", "limit", "max-age", "min-age"})
    """Flags with which files of the source are left out that a later sync would bring."""

    _BY_CONTENT: ClassVar[frozenset[str]] = frozenset({"check-all", "force-update", "update"})
    """Flags with which a changed file is copied even if its size has not changed."""

    def run(self) -> str:
        """Copy the source into the dataset and return a sentence about the result.

        Raises AttemptError, OSError or StoppedError.
        """
        place = destination.of(self.config, self.work, self.environment)
        copy = self._copy(place)
        copy.check()
        renews = self.config.target.kind in ("Dataset", "DatasetTask")
        marks = Marks(place.state, self.work.run, completes=self.config.completes, renews=renews)
        past = place.past(marks)
        if past.is_done:
            self.work.outcome.revision = past.revision
            return "This run was complete before: nothing to do"
        self.work.outcome.waits("For the lock of the dataset")
        with place.locked():
            self.work.outcome.works()
            # During the wait another attempt of the same run may have finished.
            past = marks.look()
            if past.is_done:
                self.work.outcome.revision = past.revision
                return "This run was complete before: nothing to do"
            try:
                return self._fill(copy, place, marks, past)
            except Exception as error:
                failure = of_any(error, "the sync")
                if isinstance(failure, AttemptError):
                    with suppress(AttemptError, OSError):
                        marks.fail(failure.code)
                        self.work.outcome.revision = marks.look().revision
                raise failure from None

    def _copy(self, place: Destination) -> Sync:
        config, work = self.config, self.work
        variables = credentials.source_variables(config.source, self.environment)
        progress = work.outcome.progress
        return Sync(place.child, config.source, place.address, config.flags, variables, progress, work.log)

    def _fill(self, copy: Sync, place: Destination, marks: Marks, past: Past) -> str:
        where, dry = self.config.source, bool(self.config.flags.get("dry"))
        if self.config.flags.get("delete-dst") and not dry and copy.is_empty():
            message = f"{where} lists nothing: with `delete-dst` that would remove the whole dataset"
            raise AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        listed = None if dry or self._PARTIAL & set(self.config.flags) else self._listing().revision()
        if not dry:
            marks.begin(past)
        if past.begun is not None:
            copy.remove_leftovers()
        counted = copy.run(resume=past.begun is not None and past.begun == self.work.run)
        if not counted.skipped + counted.copied and copy.is_empty():
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is nothing below {where}")
        self.work.outcome.progress.bytes_total = self.work.outcome.progress.bytes_done
        if not dry:
            place.settle()
            revision = listed if self._is_exact(counted) and self._still(listed) else None
            marks.end({"files": counted.skipped + counted.copied, **({"revision": revision} if revision else {})})
            self.work.outcome.revision = revision
        return f"The dataset holds what the source lists: {counted.copied} files are new, {counted.skipped} were there"

    def _listing(self) -> SourceListing:
        config, work = self.config, self.work
        no_https = bool(config.flags.get("no-https"))
        return SourceListing(config.source, no_https, self.environment, work.stop, work.log, work.redact)

    def _is_exact(self, counted: Count) -> bool:
        """Return whether no file was taken for unchanged because of its size alone."""
        return not counted.skipped or bool(self._BY_CONTENT & set(self.config.flags))

    def _still(self, listed: str | None) -> bool:
        """Return whether the source lists what it listed before the copy: `listed`, None for an unknown listing."""
        try:
            return listed is not None and self._listing().revision() == listed
        except StoppedError:
            # The copy is complete: its end is worth more than its revision.
            return False
