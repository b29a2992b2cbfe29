"""Copy from a source into the dataset. Files that the dataset already has unchanged are skipped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.cache.drivers.juicefs import credentials
from stowplan.agents.cache.drivers.juicefs.listing.comparison import SPECIAL, Comparison
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.cache.drivers.juicefs.source_listing import SourceListing
from stowplan.agents.cache.drivers.juicefs.sync import WHOLE, Sync
from stowplan.agents.cache.drivers.juicefs.tasks import destination
from stowplan.agents.cache.drivers.juicefs.tasks.destination import Destination
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past, once
from stowplan.agents.cache.drivers.juicefs.tasks.survey import SyncSurvey
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.agents.copying.closing import changes, closing
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class SyncTask:
    """One attempt to copy."""

    config: SyncConfig
    work: TaskWork
    environment: Mapping[str, str]

    _PARTIAL: ClassVar[frozenset[str]] = frozenset({"existing", "ignore-existing", "limit", "max-age", "min-age"})
    """Options with which files of the source are left out that a later sync would bring."""

    _BY_CONTENT: ClassVar[frozenset[str]] = frozenset({"check-all", "force-update", "update"})
    """Options with which a changed file is copied even if its size has not changed."""

    _WHOLE: ClassVar[frozenset[str]] = frozenset({"check-all", "force-update"})
    """Options after which the dataset holds every file that the source lists."""

    def run(self) -> str:
        """Copy the source into the dataset and return a sentence about the result.

        Raises AttemptError, OSError or StoppedError.
        """
        place = destination.of(self.config, self.work, self.environment)
        survey = self._survey(place)
        survey.copy.check()
        renews = self.config.target.kind in ("Dataset", "DatasetTask")
        marks = Marks(place.state, self.work.run, completes=self.config.completes, renews=renews)

        def change(past: Past) -> str:
            return self._dry(survey.copy) if self.config.flags.get("dry") else self._fill(survey, marks, past)

        return once(self.work, marks, place.past(marks), place.locked(), change, what="the sync")

    def _survey(self, place: Destination) -> SyncSurvey:
        config, work = self.config, self.work
        variables = credentials.source_variables(config.source, self.environment)
        progress = work.outcome.progress
        # In the root of a volume JuiceFS has files of its own.
        reserved = SPECIAL if config.mount_path is None and config.destination == "/" else ()
        copy = Sync(place.child, config.source, place.address, config.flags, variables, progress, work.log, reserved)
        return SyncSurvey(config, work, copy, place, SourceListing(config, work, self.environment))

    def _dry(self, copy: Sync) -> str:
        copy.run()
        if not copy.tally.files and copy.is_empty():
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is nothing below {self.config.source}")
        return f"Nothing was copied: {copy.tally.copied} files would be new, {copy.tally.unchanged} are there"

    def _fill(self, survey: SyncSurvey, marks: Marks, past: Past) -> str:
        progress, place = self.work.outcome.progress, survey.place
        with WantedKeys.kept() as wanted:
            if past.begun is not None:
                survey.copy.remove_leftovers()
            compared, listed = survey.run(wanted)
            extra = compared.extra
            if not compared.seen or (extra and extra.count and not compared.listed):
                raise self._nothing()
            progress.files_total, progress.bytes_total = compared.listed, compared.bytes
            progress.files_unknown = extra.unknown if extra else 0
            marks.begin(past)
            survey.begin(compared)
            deleted = extra if extra and extra.count else None
            if deleted and deleted.is_blocked:
                survey.delete(deleted)
            self._copy(survey, compared)
            if deleted and not deleted.is_blocked:
                survey.delete(deleted)
        progress.bytes_total = progress.bytes_done
        place.settle()
        survey.finish(compared)
        tally = survey.copy.tally
        is_whole = tally.files == compared.listed and (survey.is_decided or tally.copied >= compared.changed)
        is_exact = is_whole and not progress.files_unknown and self._is_exact(survey, compared)
        known = listed if is_exact else None
        revision = known if not tally.copied or self._still(survey.source, known) else None
        marks.end({"files": tally.files, **({"revision": revision} if revision else {})})
        self.work.outcome.revision = revision
        return self._said(survey, compared, is_whole=is_whole)

    def _said(self, survey: SyncSurvey, compared: Comparison, *, is_whole: bool) -> str:
        progress, tally = self.work.outcome.progress, survey.copy.tally
        counts = f"{tally.copied} files are new, {tally.unchanged} were there"
        if survey.is_decided and not self._WHOLE & set(self.config.flags):
            said = f"The options of the sync were followed: {counts}"
        elif not is_whole:
            said = f"The source changed during the copy, and listed {compared.listed} files before: {counts}"
        else:
            return f"{closing('The dataset', progress)}; {counts}"
        return "; ".join([said, *changes(progress)])

    def _copy(self, survey: SyncSurvey, compared: Comparison) -> None:
        copy, tally = survey.copy, survey.copy.tally
        if not survey.is_decided:
            tally.unchanged, tally.unchanged_bytes = compared.unchanged, compared.unchanged_bytes
            tally.tell(copy.progress, skipped=0, copied=0, sizes=(0, 0), whole=False)
            copy.fetch(compared.wanted)
        if survey.is_decided or compared.others or WHOLE & set(self.config.flags):
            copy.run()

    def _nothing(self) -> AttemptError:
        where = self.config.source
        if self.config.flags.get("delete-dst"):
            message = f"{where} lists nothing: with `delete-dst` that would remove the whole dataset"
            return AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        return AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is nothing below {where}")

    def _is_exact(self, survey: SyncSurvey, compared: Comparison) -> bool:
        """Return whether each file is surely the version that the source listed."""
        flags = set(self.config.flags)
        if survey.is_decided:
            return not self._PARTIAL & flags and (not survey.copy.tally.unchanged or bool(self._BY_CONTENT & flags))
        return compared.proven

    def _still(self, source: SourceListing, listed: str | None) -> bool:
        """Return whether the source lists what it listed before the copy: `listed`, None for an unknown listing."""
        try:
            return listed is not None and source.revision() == listed
        except StoppedError:
            # The copy is complete: its end is worth more than its revision.
            return False
