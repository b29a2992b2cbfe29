"""Wait for the end of a sync, by its marker files in the volume.

The sync may run on another cluster node, or may not have started.
"""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt import run_marker, safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, marker_path

LOOK_SECONDS = 2.0
"""Seconds between two polls of the marker files."""


@dataclass(frozen=True)
class SyncMarks:
    """Marker files of the sync that belongs to this run.

    The name of the sync's Job is `name`. If that is None, it is `stem`, a hyphen, and the last part (hash or scheduled
    time) of this run's name.
    """

    mount: Path
    stem: str
    work: TaskWork
    name: str | None = None

    def wait(self) -> str:
        """Wait until the sync has succeeded, and return the name of its run.

        Raises AttemptError (exit code 4) if the sync has failed permanently, AttemptError (exit code 2) if this task
        has no run, and StoppedError if the work must stop.
        """
        if not self.name and not self.work.run:
            raise AttemptError(ExitCode.BAD_SPEC, "NoRun", "Without STOWPLAN_RUN nobody knows which sync to wait for")
        run = self.name or f"{self.stem}-{(self.work.run or '').rpartition('-')[2]}"
        while not self._is_done(run):
            self.work.outcome.waits(f"For the sync {run}")
            self.work.stop.sleep(LOOK_SECONDS)
        self.work.outcome.works()
        return run

    def _is_done(self, run: str) -> bool:
        # Another task removes the run's marker file before it changes the dataset. The failed file and the complete
        # file of the dataset remain.
        for path in (marker_path(run), FAILED_FILE):
            marker = run_marker.read(safe_files.read(self.mount, path))
            if marker and marker.run == run:
                if marker.result == "succeeded":
                    return True
                message = f"The sync {run} failed with exit code {marker.exit_code}: there is nothing to load"
                raise AttemptError(ExitCode.NOT_FOUND, "SyncFailed", message)
        complete = safe_files.json_object(safe_files.read(self.mount, COMPLETE_FILE))
        return complete is not None and complete.get("run") == run
