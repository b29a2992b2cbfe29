"""State of a mounted dataset by its marker files (`stowplan.schema.agents.marker`)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from stowplan.agents.attempt import safe_files
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, LONGEST_REVISION, WARMUP_DIRECTORY, WarmupMarker
from stowplan.schema.agents.wait_config import Until

_LONGEST = 63
"""Maximum length in characters of what is quoted from a marker file. A run has the name of a Job, of at most 63."""

State = Literal["ready", "waiting", "failed", "refused", "broken"]


@dataclass(frozen=True, slots=True)
class Poll:
    """Result of one poll of a dataset."""

    state: State
    """`refused` means that file permissions forbid reading; `broken`, that the mount cannot be read."""
    text: str
    """Why the dataset has this state, as the end of a sentence whose subject is the dataset."""


def look(root: Path, until: Until, revision: str | None = None) -> Poll:
    """Poll the dataset in the directory `root` once. `until` is the state of the dataset that counts as ready.

    With a `revision` it is ready only if its last sync brought that one, whatever `until` is. Hangs if the mount does.
    """
    try:
        return _look(root, until, revision)
    except PermissionError as error:
        return Poll("refused", f"user {os.geteuid()} may not read {error.filename or root}")
    except OSError as error:
        return Poll("broken", f"its mount cannot be read ({error.strerror or error})")


def _look(root: Path, until: Until, revision: str | None) -> Poll:
    with os.scandir(root) as entries:
        next(entries, None)
    if until == "mounted" and revision is None:
        return Poll("ready", "it is mounted")
    complete = _read(root, COMPLETE_FILE)
    if complete is None:
        if (failed := _read(root, FAILED_FILE)) is not None:
            return Poll("failed", f"its sync failed for good ({_ended(failed.get('run'), failed.get('exitCode'))})")
        return Poll("waiting", f"no sync has completed it ({COMPLETE_FILE} is not there)")
    if revision is not None and complete.get("revision") != revision:
        held = str(complete.get("revision") or "an unknown revision")[:LONGEST_REVISION]
        return Poll("waiting", f"its last sync brought {held}, not {revision}")
    if until != "warmed":
        return Poll("ready", "it is synced")
    return _warmth(root, complete.get("run"))


def _warmth(root: Path, sync: object) -> Poll:
    """Return the result for a synced dataset that must also be warm.

    It depends on the marker files of the warmups that followed this sync. `sync` is the name of the sync's run.
    """
    markers = {each.partition: each for each in _markers(root) if each.sync == sync}
    for number, marker in markers.items():
        if marker.result != "succeeded":
            ended = _ended(marker.run, marker.exit_code)
            return Poll("failed", f"the warmup of cache {number} failed for good ({ended})")
    wanted = max((each.partitions for each in markers.values()), default=0)
    if not wanted:
        return Poll("waiting", "it is synced, and no cache is warm yet")
    warm = sum(number < wanted for number in markers)
    if warm < wanted:
        return Poll("waiting", f"it is synced, and {warm} of {wanted} caches are warm")
    return Poll("ready", "it is synced and warm")


def _markers(root: Path) -> Iterator[WarmupMarker]:
    """Yield the valid warmup markers. Invalid files are skipped, since a file may be half written."""
    for name, content in safe_files.files(root, WARMUP_DIRECTORY).items():
        if name.endswith(".json"):
            try:
                yield WarmupMarker.model_validate_json(content)
            except ValidationError:
                continue


def _read(root: Path, path: str) -> dict[str, Any] | None:
    """Return the JSON object in a marker file; None if the file is missing, half written or invalid.

    The file is opened each time. A network file system may remember for long that a file is missing, but asks its
    server when a program opens the file.
    """
    return safe_files.json_object(safe_files.read(root, path))


def _ended(run: object, code: object) -> str:
    return f"run {str(run)[:_LONGEST]}, exit code {str(code)[:_LONGEST]}"
