"""The marker of a run that is done, and the file by which others see that the data is complete."""

import json
from collections.abc import Mapping
from pathlib import Path

from stowplan.agents.attempt import run_marker, safe_files
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, marker_path

COMPLETE = "complete.json"
"""In the state directory of the transfer: there while the destination is complete, not while it is being changed."""

LONGEST_REVISION = 256
"""Characters. The names of commits and versions are far shorter."""


class Completion:
    """Of one transfer, in one run. Without a run, as on a laptop, only the second file is kept.

    One that completes the dataset below `dataset` keeps that file there, and beside it one that says that it failed.
    """

    def __init__(self, claim: Path, directory: Path, run: str | None, dataset: Path | None = None) -> None:
        complete = dataset / COMPLETE_FILE if dataset else directory / COMPLETE
        self._claim = claim
        self._complete = complete.relative_to(claim).as_posix()
        self._failed = (dataset / FAILED_FILE).relative_to(claim).as_posix() if dataset else None
        self._marker = marker_path(run) if run else None
        self._run = run

    def is_done(self) -> bool:
        """Whether this very run has succeeded before."""
        if self._marker is None or self._run is None:
            return False
        return run_marker.succeeded(safe_files.read(self._claim, self._marker), self._run)

    @property
    def revision(self) -> str | None:
        """What this run brought, where its engine knows such a name and no other run came after it."""
        told = safe_files.json_object(safe_files.read(self._claim, self._complete)) or {}
        found = told.get("revision") if told.get("run") == self._run else None
        return found if isinstance(found, str) and len(found) <= LONGEST_REVISION else None

    def begin(self) -> None:
        """Before the first change."""
        for each in (self._complete, self._failed, self._marker):
            if each:
                safe_files.remove(self._claim, each)

    def end(self, code: ExitCode, summary: Mapping[str, int | str]) -> None:
        """After the last change. A failure that another attempt may mend leaves no marker."""
        if code is ExitCode.DONE:
            if self._failed:
                safe_files.remove(self._claim, self._failed)
            text = json.dumps({"format": 1, "run": self._run, **summary}) + "\n"
            safe_files.write(self._claim, self._complete, text)
        if self._marker and self._run and code in (ExitCode.DONE, *PERMANENT):
            text = run_marker.written(self._run, code)
            safe_files.write(self._claim, self._marker, text)
            if self._failed and code:
                safe_files.write(self._claim, self._failed, text)
