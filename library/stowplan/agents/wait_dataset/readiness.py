"""How far a mounted dataset is, by the markers in it (`stowplan.schema.agents.marker`)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from stowplan.agents.attempt import safe_files
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, WARMUP_DIRECTORY, WarmupMarker
from stowplan.schema.agents.wait_config import Until

_LONGEST = 63
"""Characters of the name of a run, which is that of a Job."""

State = Literal["ready", "waiting", "failed", "refused", "broken"]


@dataclass(frozen=True, slots=True)
class View:
    """What was seen at one look. `refused` is a right that is missing, `broken` a mount that cannot be read."""

    state: State
    text: str
    """What is missing or wrong, as the end of a sentence on the dataset."""


def look(root: Path, until: Until) -> View:
    """One look at the dataset below `root`."""
    try:
        return _look(root, until)
    except PermissionError as error:
        return View("refused", f"user {os.geteuid()} may not read {error.filename or root}")
    except OSError as error:
        return View("broken", f"its mount cannot be read ({error.strerror or error})")


def _look(root: Path, until: Until) -> View:
    with os.scandir(root) as entries:
        next(entries, None)
    if until == "mounted":
        return View("ready", "it is mounted")
    complete = _read(root, COMPLETE_FILE)
    if complete is None:
        return _failure(root) or View("waiting", f"no sync has completed it ({COMPLETE_FILE} is not there)")
    if until == "synced":
        return View("ready", "it is synced")
    return _warmth(root, complete.get("run"))


def _failure(root: Path) -> View | None:
    failed = _read(root, FAILED_FILE)
    if failed is None:
        return None
    return View("failed", f"its sync failed for good ({_ended(failed.get('run'), failed.get('exitCode'))})")


def _warmth(root: Path, sync: object) -> View:
    """By the markers of those warmups that followed the sync."""
    markers = {each.partition: each for each in _markers(root) if each.sync == sync}
    for number, marker in markers.items():
        if marker.result != "succeeded":
            ended = _ended(marker.run, marker.exit_code)
            return View("failed", f"the warmup of cache {number} failed for good ({ended})")
    wanted = max((each.partitions for each in markers.values()), default=0)
    if not wanted:
        return View("waiting", "it is synced, and no cache is warm yet")
    warm = sum(number < wanted for number in markers)
    if warm < wanted:
        return View("waiting", f"it is synced, and {warm} of {wanted} caches are warm")
    return View("ready", "it is synced and warm")


def _markers(root: Path) -> Iterator[WarmupMarker]:
    """The markers that can be read; others may be there in part, or be somebody else's files."""
    for name, content in safe_files.files(root, WARMUP_DIRECTORY).items():
        if name.endswith(".json"):
            try:
                yield WarmupMarker.model_validate_json(content)
            except ValidationError:
                continue


def _read(root: Path, path: str) -> dict[str, Any] | None:
    """A marker; None where there is none, not all of it yet, or something that cannot be one.

    It is opened at each look: a network file system may remember for long that a file was not there, but asks at open.
    """
    return safe_files.json_object(safe_files.read(root, path))


def _ended(run: object, code: object) -> str:
    return f"run {str(run)[:_LONGEST]}, exit code {str(code)[:_LONGEST]}"
