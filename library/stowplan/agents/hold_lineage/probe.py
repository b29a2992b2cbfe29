"""Probe of the sidecar: `python -m stowplan.agents.hold_lineage.probe DIRECTORY LINEAGE JOB`.

It succeeds once the run has the lineage. It imports no pydantic, since it runs every few seconds until then.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.dataset_lock import owner
from stowplan.agents.attempt.dataset_lock.flag import HOLDING, flag_of, is_of
from stowplan.schema.agents.lineage_state import LOCK_FOLDER, RANK_ENV, state_directory


def main(words: Sequence[str]) -> int:
    """Return the exit code: 0 if the run has the lineage, else 1. Then print the reason, which the kubelet shows.

    `words` are where the claim is mounted, the name of the lineage, and the name of the run without its hash.
    """
    path, lineage, job = words
    run = f"{job}-{os.environ.get('STOWPLAN_RUN')}"
    try:
        reason = _waits_for(Path(path), lineage, run, first=os.environ.get(RANK_ENV) in (None, "", "0"))
    except OSError as error:
        reason = f"the claim cannot be read: {error}"
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))


def _waits_for(root: Path, lineage: str, run: str, *, first: bool) -> str:
    """Return what the trainer has to wait for, as a sentence; empty if the run has the lineage.

    In the `first` pod the process that holds the lock must be in the container of this process.
    """
    files = safe_files.files(root, f"{state_directory(lineage)}/{LOCK_FOLDER.rstrip('/')}")
    flags = ((flag_of(f"{LOCK_FOLDER}{name}"), content) for name, content in files.items())
    holding = [(flag, content) for flag, content in flags if flag and flag.state == HOLDING]
    own = [content for flag, content in holding if is_of(flag, run)]
    if any(not first or owner.lives_here(content) for content in own):
        return ""
    other = next((flag.who.rpartition("-")[0] for flag, _ in holding if not is_of(flag, run)), None)
    return f"lineage {lineage} waits for run {other or f'{run} to take it'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
