"""How far a mounted dataset is, by the markers in it (`stowplan.schema.marker`)."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from stowplan.schema.marker import COMPLETE_FILE, FAILED_FILE, WARMUP_DIRECTORY
from stowplan.schema.wait_config import Until

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
    complete = _read(root / COMPLETE_FILE)
    if complete is None:
        return _failure(root) or View("waiting", f"no sync has completed it ({COMPLETE_FILE} is not there)")
    if until == "synced":
        return View("ready", "it is synced")
    return _warmth(root, complete.get("run"))


def _failure(root: Path) -> View | None:
    failed = _read(root / FAILED_FILE)
    if failed is None:
        return None
    return View("failed", f"its sync failed for good ({_ended(failed)})")


def _warmth(root: Path, sync: object) -> View:
    """By the markers of those warmups that followed the sync."""
    markers = {each.get("partition"): each for each in _markers(root / WARMUP_DIRECTORY) if each.get("sync") == sync}
    for number, marker in markers.items():
        if marker.get("result") != "succeeded":
            return View("failed", f"the warmup of cache {number} failed for good ({_ended(marker)})")
    wanted = max((_number(each.get("partitions")) for each in markers.values()), default=0)
    if not wanted:
        return View("waiting", "it is synced, and no cache is warm yet")
    missing = [number for number in range(wanted) if number not in markers]
    if missing:
        return View("waiting", f"it is synced, and {wanted - len(missing)} of {wanted} caches are warm")
    return View("ready", "it is synced and warm")


def _markers(directory: Path) -> Iterator[dict[str, Any]]:
    with suppress(FileNotFoundError):
        for path in sorted(directory.iterdir()):
            found = _read(path) if path.suffix == ".json" else None
            if found is not None:
                yield found


def _read(path: Path) -> dict[str, Any] | None:
    """A marker; None where there is none, or not all of it yet.

    It is opened at each look: a network file system may remember for long that a file was not there, but asks at open.
    """
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _ended(marker: dict[str, Any]) -> str:
    return f"run {marker.get('run')}, exit code {marker.get('exitCode')}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
