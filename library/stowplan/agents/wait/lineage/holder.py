"""Holds the lock of a lineage, and writes the marker of the run that has it."""

import math
import os
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.dataset_lock.flag import FOLDER, Flag, flag_of, is_of
from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.wait.lineage.marker import marker
from stowplan.schema.agents.lineage import LineageConfig
from stowplan.schema.agents.lineage_state import MARKER_FILE, state_directory

SILENCE_SECONDS = 600.0
"""Seconds without a sign of life after which the run that has a lineage is considered dead."""

_CLOCK = "clock"
"""File in the folder of the flags, whose time of modification is the present time by the clock of the file system."""


def hold(config: LineageConfig, run: str, stop: Stop, log: Log) -> None:
    """Wait for the lineage, write its marker, and hold its lock until `stop`. Never returns.

    `run` is the name of the run. Makes the directory of the lineage, which every user may write to, since the program
    that trains has a user of its own: the umask of the process is 0 from then on. Raises StoppedError after the stop,
    AttemptError TRANSIENT (10) if the lock was lost, and OSError if the claim cannot be written to.
    """
    os.umask(0)
    root = Path(config.path)
    state = MountedState(root, state_directory(config.lineage))
    ClaimFolder.at(root, config.lineage, create=True).close()
    own = _own_flags(root, state, run)
    place = f"lineage {config.lineage}"
    lock = Lock(state, run, stop, log, silence=SILENCE_SECONDS, patience=math.inf, place=place)
    with lock.held(own):
        present = marker(config, run)
        before = safe_files.json_object(safe_files.read(root, f"{state.directory}/{MARKER_FILE}")) or {}
        state.write({MARKER_FILE: present.model_dump_json(indent=2).encode()})
        log.info(f"The run has {place}", image=present.image, before=_text(before, "run"), of=_text(before, "image"))
        stop.wait()
        stop.check()


def _own_flags(root: Path, state: MountedState, run: str) -> list[Flag]:
    """Return the flags of this run, which an earlier pod or start has left. Remove stale flags of other runs.

    Flags are stale after `SILENCE_SECONDS`. The lock would wait as long anew for each of them.
    """
    state.write({f"{FOLDER}{_CLOCK}": b""})
    ages = _ages(root, f"{state.directory}/{FOLDER}".rstrip("/"))
    flags = list(filter(None, map(flag_of, state.read())))
    state.remove(
        flag.path
        for flag in flags
        if not is_of(flag, run) and ages.get(flag.path.removeprefix(FOLDER), 0) > SILENCE_SECONDS
    )
    return [flag for flag in flags if is_of(flag, run)]


def _ages(root: Path, folder: str) -> dict[str, float]:
    """Return the age of each file in a folder in seconds, by its name, compared with the file `_CLOCK`.

    Both times come from the same file system, so the clock of this machine does not matter.
    """
    found: dict[str, float] = {}
    with ClaimFolder.at(root, folder) as flags:
        for name in safe_files.names(root, folder):
            if status := flags.stat(name):
                found[name] = status.st_mtime
    # Others may have removed the clock.
    now = found.get(_CLOCK, -math.inf)
    return {name: now - time for name, time in found.items()}


def _text(found: dict[str, object], key: str) -> str | None:
    value = found.get(key)
    return value if isinstance(value, str) else None
