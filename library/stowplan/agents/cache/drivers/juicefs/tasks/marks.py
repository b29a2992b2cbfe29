"""Marker files of a task in the volume: that its run has ended, that the dataset is complete or failed, or that a
change of the dataset has begun.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from stowplan.agents.attempt import run_marker
from stowplan.agents.attempt.completion import revise, revision_of
from stowplan.agents.attempt.dataset_lock.state import StateDirectory
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, STATE_DIRECTORY, marker_path

BEGUN = "begun.json"
"""File with the name of the run that is changing the dataset. After a killed task the file remains."""


def below(path: str) -> str:
    """Return a path that `stowplan.schema.agents.marker` defines, relative to the state directory.

    `StateDirectory` uses such relative paths as names.
    """
    return str(PurePosixPath(path).relative_to(STATE_DIRECTORY))


RUNS = below(marker_path("x")).removesuffix("x.json")
COMPLETE, FAILED = below(COMPLETE_FILE), below(FAILED_FILE)


@dataclass(frozen=True)
class Past:
    """Files of the state directory at one moment, by name, and what they mean for this run; None for no run."""

    run: str | None
    files: Mapping[str, bytes]

    @property
    def is_done(self) -> bool:
        """Return whether this run has already succeeded, and no later run changed the dataset. False without a run."""
        if not self.run:
            return False
        return run_marker.succeeded(self.files.get(below(marker_path(self.run))), self.run)

    @property
    def revision(self) -> str | None:
        """Return the revision that the dataset holds, by its complete file; None if that is not known."""
        return revision_of(json_object(self.files.get(COMPLETE)) or {})

    @property
    def begun(self) -> str | None:
        """Return the name of the run that began to change the dataset and did not finish; None if there is none.

        Empty if the task had no run, or if the begin file is invalid.
        """
        content = self.files.get(BEGUN)
        if content is None:
            return None
        return str((json_object(content) or {}).get("run", ""))


@dataclass(frozen=True)
class Marks:
    """Marker files that one task writes for its run.

    Without a run, for example on a laptop, only the begin file and the complete file are written.
    """

    state: StateDirectory
    run: str | None
    completes: bool = False
    """True if the end of this task makes the dataset complete."""
    renews: bool = False
    """True if this task copies from the source of the dataset, so that the complete file names the new revision."""

    def look(self) -> Past:
        """Read the marker files that exist now."""
        return Past(self.run, self.state.read())

    def begin(self, past: Past) -> None:
        """Write the begin file, and remove the marker files of all runs. Call this before the first change of the data.

        From then on no earlier run counts as done, since the data changes, and the complete file names no revision any
        more. `past` must have been read after this task got the lock.
        """
        files = {BEGUN: _text({"format": 1, "run": self.run or ""})}
        content = json_object(past.files.get(COMPLETE)) or {}
        if not self.completes and "revision" in content:
            files[COMPLETE] = _text(revise(content, None))
        self.state.write(files)
        own = (COMPLETE, FAILED) if self.completes else ()
        self.state.remove([name for name in past.files if name.startswith(RUNS) or name in own])

    def end(self, summary: Mapping[str, int | str]) -> None:
        """Record the success of this task: write the marker files, then remove the begin file.

        Call this after the last change of the data. `summary` is added to the fields of the complete file.
        """
        files = {}
        if self.completes:
            files[COMPLETE] = _text({"format": 1, "run": self.run or "", **summary})
        elif self.renews and (content := json_object(self.state.read().get(COMPLETE))):
            files[COMPLETE] = _text(revise(content, summary.get("revision")))
        if self.run:
            files[below(marker_path(self.run))] = run_marker.written(self.run, ExitCode.DONE).encode()
        if files:
            self.state.write(files)
        self.state.remove([BEGUN])

    def fail(self, code: ExitCode) -> None:
        """Record a failure with this exit code. A failure that a retry may cure writes no file."""
        if code not in PERMANENT or not self.run:
            return
        marker = run_marker.written(self.run, code).encode()
        files = {below(marker_path(self.run)): marker} | ({FAILED: marker} if self.completes else {})
        self.state.write(files)


def once(
    work: TaskWork,
    marks: Marks,
    past: Past,
    locked: AbstractContextManager[None],
    change: Callable[[Past], str],
    *,
    what: str,
) -> str:
    """Hold the lock of the dataset and `change` it, and return a sentence about that; do nothing if the run is done.

    `past` was read before. `change` gets the marker files that exist under the lock. Its failure is recorded, and
    raised as AttemptError or StoppedError. `what` is the beginning of the message about an OSError.
    """
    if not past.is_done:
        work.outcome.waits("For the lock of the dataset")
        with locked:
            work.outcome.works()
            # During the wait another attempt of the same run may have finished.
            past = marks.look()
            if not past.is_done:
                try:
                    return change(past)
                except Exception as error:
                    failure = of_any(error, what)
                    if isinstance(failure, AttemptError):
                        with suppress(AttemptError, OSError):
                            marks.fail(failure.code)
                            work.outcome.revision = marks.look().revision
                    raise failure from None
    work.outcome.revision = past.revision
    return "This run was complete before: nothing to do"


def _text(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode() + b"\n"
