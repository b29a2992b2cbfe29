"""Copy from a source into the dataset. Files that the dataset already has unchanged are skipped."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.cache.drivers.juicefs import credentials
from stowplan.agents.cache.drivers.juicefs.sync import Sync
from stowplan.agents.cache.drivers.juicefs.tasks import destination
from stowplan.agents.cache.drivers.juicefs.tasks.destination import Destination
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past
from stowplan.agents.cache.drivers.juicefs.tasks.work import TaskWork
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class SyncTask:
    """One attempt to copy."""

    config: SyncConfig
    work: TaskWork
    environment: Mapping[str, str]

    def run(self) -> str:
        """Copy the source into the dataset and return a sentence about the result.

        Raises AttemptError, OSError or StoppedError.
        """
        place = destination.of(self.config, self.work, self.environment)
        copy = self._copy(place)
        copy.check()
        marks = Marks(place.state, self.work.run, completes=self.config.completes)
        if place.past(marks).is_done:
            return "This run was complete before: nothing to do"
        self.work.outcome.waits("For the lock of the dataset")
        with place.locked():
            self.work.outcome.works()
            # During the wait another attempt of the same run may have finished.
            past = marks.look()
            if past.is_done:
                return "This run was complete before: nothing to do"
            try:
                return self._fill(copy, place, marks, past)
            except Exception as error:
                failure = of_any(error, "the sync")
                if isinstance(failure, AttemptError):
                    with suppress(AttemptError, OSError):
                        marks.fail(failure.code)
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
            marks.end({"files": counted.skipped + counted.copied})
        return f"The dataset holds what the source lists: {counted.copied} files are new, {counted.skipped} were there"
