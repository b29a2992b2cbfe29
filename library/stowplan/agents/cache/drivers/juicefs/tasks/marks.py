"""Marker files of a task in the volume: its run is done, the dataset is complete, or a change has begun."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from stowplan.agents.attempt import run_marker
from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.cache.drivers.juicefs.tasks.state import State
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, STATE_DIRECTORY, marker_path

BEGUN = "begun.json"
"""File that names the run that changes the dataset. It also remains after a killed task."""


def below(path: str) -> str:
    """Convert a path of `stowplan.schema.agents.marker` into a name of `State`."""
    return str(PurePosixPath(path).relative_to(STATE_DIRECTORY))


RUNS = below(marker_path("x")).removesuffix("x.json")
COMPLETE, FAILED = below(COMPLETE_FILE), below(FAILED_FILE)


@dataclass(frozen=True)
class Marks:
    """Markers of one run. Without a run, for example on a laptop, no marker is written."""

    state: State
    run: str | None
    completes: bool = False
    """True if the end of this task makes the dataset complete."""

    def look(self) -> "Past":
        """Read the files of earlier tasks."""
        return Past(self.run, self.state.read())

    def begin(self, past: "Past") -> None:
        """Write the begin file before the first change.

        From then on no earlier run counts as done, since the data changes.

        `past` must have been read after this task got the lock.
        """
        self.state.write({BEGUN: _text({"format": 1, "run": self.run or ""})})
        own = (COMPLETE, FAILED) if self.completes else ()
        self.state.remove([name for name in past.files if name.startswith(RUNS) or name in own])

    def end(self, summary: dict[str, int]) -> None:
        """Write the files after the last change: first those that others wait for; last, remove the begin file."""
        files = {}
        if self.completes:
            files[COMPLETE] = _text({"format": 1, "run": self.run or "", **summary})
        if self.run:
            files[below(marker_path(self.run))] = run_marker.written(self.run, ExitCode.DONE).encode()
        if files:
            self.state.write(files)
        self.state.remove([BEGUN])

    def fail(self, code: ExitCode) -> None:
        """Record a failure. A failure that a retry may cure leaves no marker."""
        if code not in PERMANENT or not self.run:
            return
        marker = run_marker.written(self.run, code).encode()
        files = {below(marker_path(self.run)): marker} | ({FAILED: marker} if self.completes else {})
        self.state.write(files)


@dataclass(frozen=True)
class Past:
    """Content of the state directory at one moment, interpreted for this run."""

    run: str | None
    files: Mapping[str, bytes]

    @property
    def is_done(self) -> bool:
        """Return whether this run has already succeeded, and no later run changed the dataset."""
        if not self.run:
            return False
        return run_marker.succeeded(self.files.get(below(marker_path(self.run))), self.run)

    @property
    def begun(self) -> str | None:
        """Return the run whose change was never finished; None if there is none."""
        content = self.files.get(BEGUN)
        if content is None:
            return None
        return str((json_object(content) or {}).get("run", ""))


def _text(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode() + b"\n"
