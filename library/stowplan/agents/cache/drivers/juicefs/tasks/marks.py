"""What a task leaves in the volume: that its run is done, and that the dataset is complete, or is being changed."""

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
"""There while a task changes the dataset, and after one that was killed: names its run."""


def below(path: str) -> str:
    """A path of `stowplan.schema.agents.marker` as a name of `State`."""
    return str(PurePosixPath(path).relative_to(STATE_DIRECTORY))


RUNS = below(marker_path("x")).removesuffix("x.json")
COMPLETE, FAILED = below(COMPLETE_FILE), below(FAILED_FILE)


@dataclass(frozen=True)
class Marks:
    """Of one run. Without a run, as on a laptop, there is no marker."""

    state: State
    run: str | None
    completes: bool = False
    """Whether the dataset is complete with the end of this task."""

    def look(self) -> "Past":
        """What the tasks before have left."""
        return Past(self.run, self.state.read())

    def begin(self, past: "Past") -> None:
        """Before the first change. From now on no run before this one counts as done: the data is not what it left.

        `past` is what was seen since this task holds the lock.
        """
        self.state.write({BEGUN: _text({"format": 1, "run": self.run or ""})})
        own = (COMPLETE, FAILED) if self.completes else ()
        self.state.remove([name for name in past.files if name.startswith(RUNS) or name in own])

    def end(self, summary: dict[str, int]) -> None:
        """After the last change: first what others wait for, last that nothing is being changed."""
        files = {}
        if self.completes:
            files[COMPLETE] = _text({"format": 1, "run": self.run or "", **summary})
        if self.run:
            files[below(marker_path(self.run))] = run_marker.written(self.run, ExitCode.DONE).encode()
        if files:
            self.state.write(files)
        self.state.remove([BEGUN])

    def fail(self, code: ExitCode) -> None:
        """After a failure. One that another attempt may mend leaves no marker."""
        if code not in PERMANENT or not self.run:
            return
        marker = run_marker.written(self.run, code).encode()
        files = {below(marker_path(self.run)): marker} | ({FAILED: marker} if self.completes else {})
        self.state.write(files)


@dataclass(frozen=True)
class Past:
    """What was in the state directory at one moment, as this run has to understand it."""

    run: str | None
    files: Mapping[str, bytes]

    @property
    def is_done(self) -> bool:
        """Whether this very run has succeeded before, and nothing has changed the dataset since."""
        if not self.run:
            return False
        return run_marker.succeeded(self.files.get(below(marker_path(self.run))), self.run)

    @property
    def begun(self) -> str | None:
        """The run whose change was never finished, if there is one."""
        content = self.files.get(BEGUN)
        if content is None:
            return None
        return str((json_object(content) or {}).get("run", ""))


def _text(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode() + b"\n"
