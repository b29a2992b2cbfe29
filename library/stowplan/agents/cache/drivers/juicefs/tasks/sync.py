"""Copy from a source into the volume. Files that the volume already has unchanged are skipped."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.cache.drivers.juicefs import credentials
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.formatting import Formatting, is_unformatted
from stowplan.agents.cache.drivers.juicefs.sync import Sync
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past
from stowplan.agents.cache.drivers.juicefs.tasks.work import TaskWork
from stowplan.agents.cache.drivers.juicefs.volume_state import VolumeState
from stowplan.schema.agents.cache_config import VOLUME_SECRET_ENV, SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class SyncTask:
    """One attempt to copy."""

    config: SyncConfig
    work: TaskWork
    environment: Mapping[str, str]

    def run(self) -> str:
        """Copy the source into the volume and return a sentence about the result.

        Raises AttemptError or StoppedError.
        """
        copy = self._copy()
        copy.check()
        state = VolumeState(copy.child, f"jfs://{self.config.volume}{(self.config.root or '').rstrip('/')}/")
        marks = Marks(state, self.work.run, completes=self.config.completes)
        if self._is_done(marks, copy.child):
            return "This run was complete before: nothing to do"
        self.work.outcome.waits("For the lock of the dataset")
        with Lock(state, self.work.run or "sync", self.work.stop, self.work.log).held():
            self.work.outcome.works()
            # During the wait another attempt of the same run may have finished.
            past = marks.look()
            if past.is_done:
                return "This run was complete before: nothing to do"
            try:
                return self._fill(copy, marks, past)
            except Exception as error:
                failure = of_any(error, "the sync")
                if isinstance(failure, AttemptError):
                    with suppress(AttemptError):
                        marks.fail(failure.code)
                raise failure from None

    def _copy(self) -> Sync:
        config, work = self.config, self.work
        address = credentials.given(self.environment, VOLUME_SECRET_ENV["metaurl"])
        if not address:
            message = f"{VOLUME_SECRET_ENV['metaurl']} is not set: the volume Secret must have the key `metaurl`"
            raise AttemptError(ExitCode.BAD_SPEC, "BadSecret", message)
        own = {**credentials.volume_variables(self.environment), config.volume: address}
        child = Child(own, work.stop, work.redact)
        variables = credentials.source_variables(config.source, self.environment)
        destination = f"jfs://{config.volume}{config.destination}"
        return Sync(child, config.source, destination, config.flags, variables, work.outcome.progress, work.log)

    def _is_done(self, marks: Marks, child: Child) -> bool:
        try:
            return marks.look().is_done
        except AttemptError as error:
            formatting = Formatting(child, self.environment, self.work.log)
            if not is_unformatted(error) or not formatting.can():
                raise
            formatting.run()
            return marks.look().is_done

    def _fill(self, copy: Sync, marks: Marks, past: Past) -> str:
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
            marks.end({"files": counted.skipped + counted.copied})
        return f"The dataset holds what the source lists: {counted.copied} files are new, {counted.skipped} were there"
