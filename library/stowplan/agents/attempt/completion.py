"""Marker file of a finished run, and the files that declare a dataset complete or failed."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stowplan.agents.attempt import run_marker, safe_files
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, LONGEST_REVISION, marker_path

COMPLETE = "complete.json"
"""File in the state directory of the transfer. It exists while the destination is complete and no run changes it."""

KEPT_RUNS = 16
"""Number of marker files that remain of the runs of one schedule. Who waits for a run looks for it within hours."""


def revision_of(content: Mapping[str, object]) -> str | None:
    """Return the revision in the content of a complete file; None if there is none, or an invalid one."""
    found = content.get("revision")
    return found if isinstance(found, str) and len(found) <= LONGEST_REVISION else None


def revise(content: Mapping[str, Any], revision: int | str | None) -> dict[str, Any]:
    """Return the content of a complete file with another revision; None removes it."""
    kept = {key: value for key, value in content.items() if key != "revision"}
    return {**kept, "revision": revision} if revision else kept


class Completion:
    """Completion files of one transfer in one run: the complete file, the failed file and the run's marker file.

    `claim` is the root of the mounted volume; `directory` and `dataset` lie below it. `directory` is the state
    directory of the transfer. If the transfer completes a dataset, `dataset` is the dataset's folder. It then gets the
    complete file, and the failed file after a permanent failure. Without `dataset` the complete file lies in
    `directory`, and no failed file is written. `run` is the name of the run; without one (None), for example on a
    laptop, only the complete file is written. `changed` is the folder of a dataset that the transfer changes and does
    not complete: its complete file stays, without the revision, since the dataset holds something else from then on. If
    the transfer `renews` the dataset, copying from the dataset's own source, its success writes the new revision there.
    Call `is_done`, then `begin` before the first change, then `end` after success or failure. All methods may raise
    OSError.
    """

    def __init__(
        self,
        claim: Path,
        directory: Path,
        run: str | None,
        dataset: Path | None = None,
        *,
        changed: Path | None = None,
        renews: bool = False,
    ) -> None:
        complete = dataset / COMPLETE_FILE if dataset else directory / COMPLETE
        self._claim = claim
        self._complete = complete.relative_to(claim).as_posix()
        self._failed = (dataset / FAILED_FILE).relative_to(claim).as_posix() if dataset else None
        self._changed = (changed / COMPLETE_FILE).relative_to(claim).as_posix() if changed else None
        self._renews = renews
        self._marker = marker_path(run) if run else None
        self._run = run

    def is_done(self) -> bool:
        """Return whether this run has already succeeded, according to its marker file. False without a run."""
        if self._marker is None or self._run is None:
            return False
        return run_marker.succeeded(safe_files.read(self._claim, self._marker), self._run)

    @property
    def revision(self) -> str | None:
        """Return the revision that this run copied, such as a commit, from the complete file.

        None if the file is missing or invalid, if another run wrote it, or if the source has no revisions.
        """
        content = self._content(self._complete)
        return revision_of(content) if content.get("run") == self._run else None

    @property
    def present(self) -> str | None:
        """Return the revision that the dataset holds, whatever run copied it; None if that is not known."""
        return revision_of(self._content(self._changed or self._complete))

    def _content(self, path: str) -> dict[str, Any]:
        return safe_files.json_object(safe_files.read(self._claim, path)) or {}

    def begin(self) -> None:
        """Remove all completion files. The caller does this before the first change of the destination."""
        for each in (self._complete, self._failed, self._marker):
            if each:
                safe_files.remove(self._claim, each)
        self._revise(None)

    def end(self, code: ExitCode, summary: Mapping[str, int | str]) -> None:
        """Write the completion files after the last change of the destination.

        `summary`, with a `revision` if known, is added to the complete file. A failure that may pass writes no file.
        """
        if code is ExitCode.DONE:
            if self._failed:
                safe_files.remove(self._claim, self._failed)
            text = json.dumps({"format": 1, "run": self._run, **summary}) + "\n"
            safe_files.write(self._claim, self._complete, text)
            if self._renews:
                self._revise(summary.get("revision"))
        if self._marker and self._run and code in (ExitCode.DONE, *PERMANENT):
            text = run_marker.written(self._run, code)
            safe_files.write(self._claim, self._marker, text)
            if self._failed and code:
                safe_files.write(self._claim, self._failed, text)
            # Old marker files do no harm but for their number.
            with suppress(OSError):
                self._forget(self._run)

    def _revise(self, revision: int | str | None) -> None:
        """Write the revision into the complete file of the dataset that this transfer changes, if there is one."""
        if self._changed is None or not (content := self._content(self._changed)):
            return
        revised = revise(content, revision)
        if revised != content:
            safe_files.write(self._claim, self._changed, json.dumps(revised) + "\n")

    def _forget(self, run: str) -> None:
        """Remove the marker files of old runs of this run's schedule: their names end in an earlier minute."""
        stem, _, minute = run.rpartition("-")
        if not minute.isdecimal():
            return
        folder = marker_path("").removesuffix(".json")
        ours = re.compile(rf"{re.escape(stem)}-([0-9]+)\.json")
        minutes = [int(found[1]) for name in safe_files.names(self._claim, folder) if (found := ours.fullmatch(name))]
        for each in sorted(minutes)[:-KEPT_RUNS]:
            safe_files.remove(self._claim, marker_path(f"{stem}-{each}"))
