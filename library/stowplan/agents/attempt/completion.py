"""The marker of a run that is done, and the file by which others see that the data is complete."""

import json
from collections.abc import Mapping
from pathlib import Path

from stowplan.agents.attempt import run_marker
from stowplan.agents.attempt.safe_files import replace
from stowplan.schema.exit_codes import PERMANENT, ExitCode
from stowplan.schema.marker import COMPLETE_FILE, FAILED_FILE, marker_path

COMPLETE = "complete.json"
"""In the state directory of the transfer: there while the destination is complete, not while it is being changed."""


class Completion:
    """Of one transfer, in one run. Without a run, as on a laptop, only the second file is kept.

    One that completes the dataset below `dataset` keeps that file there, and beside it one that says that it failed.
    """

    def __init__(self, claim: Path, directory: Path, run: str | None, dataset: Path | None = None) -> None:
        self._complete = dataset / COMPLETE_FILE if dataset else directory / COMPLETE
        self._failed = dataset / FAILED_FILE if dataset else None
        self._marker = claim / marker_path(run) if run else None
        self._run = run

    def is_done(self) -> bool:
        """Whether this very run has succeeded before."""
        if self._marker is None or self._run is None:
            return False
        try:
            return run_marker.succeeded(self._marker.read_bytes(), self._run)
        except FileNotFoundError:
            return False

    @property
    def revision(self) -> str | None:
        """What this run brought, where its engine knows such a name and no other run came after it."""
        try:
            told = json.loads(self._complete.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        found = told.get("revision") if isinstance(told, dict) and told.get("run") == self._run else None
        return found if isinstance(found, str) else None

    def begin(self) -> None:
        """Before the first change."""
        for each in (self._complete, self._failed, self._marker):
            if each:
                each.unlink(missing_ok=True)

    def end(self, code: ExitCode, summary: Mapping[str, int | str]) -> None:
        """After the last change. A failure that another attempt may mend leaves no marker."""
        if code is ExitCode.DONE:
            if self._failed:
                self._failed.unlink(missing_ok=True)
            replace(self._complete, json.dumps({"format": 1, "run": self._run, **summary}) + "\n")
        if self._marker and self._run and code in (ExitCode.DONE, *PERMANENT):
            text = run_marker.written(self._run, code)
            self._marker.parent.mkdir(parents=True, exist_ok=True)
            replace(self._marker, text)
            if self._failed and code:
                replace(self._failed, text)
