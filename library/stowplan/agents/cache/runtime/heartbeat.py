"""Heartbeat file: the program `runtime` writes it, and the probes `alive` and `ready` read it.

This module imports little, since probes run on every cluster node all the time.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ALIVE_SECONDS = 90.0
"""Maximum age of the heartbeat in seconds. `runtime` writes one every few seconds, even if the mount hangs.

So an older heartbeat means that `runtime` itself hangs.
"""


def path() -> Path:
    """Return the path of the heartbeat file, in the pod's scratch directory."""
    return Path(os.environ.get("HOME") or "/tmp") / "stowplan-runtime.json"  # noqa: S108 - of the pod


def main(words: Sequence[str]) -> int:
    """Run the probe that the first argument names, and return the exit code: 0 if it succeeds, 1 if it fails.

    If the probe fails, the reason is printed on standard error. The kubelet shows it in its event.
    """
    reason = (alive if words[0] == "alive" else ready)(path())
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))


def beat(file: Path, trouble: str | None) -> None:
    """Write a heartbeat: the present time, and the mount's problem (None if there is none).

    The time is that of the monotonic clock, which cannot be set back.
    """
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps({"at": time.monotonic(), "trouble": trouble}), encoding="utf-8")
    temporary.replace(file)


def alive(file: Path) -> str | None:
    """Return the problem of the program `runtime`, as a sentence; None if the program is alive."""
    return _age(_read(file))


def ready(file: Path) -> str | None:
    """Return the problem of the program `runtime` or else of the mount; None if the dataset can be used."""
    found = _read(file)
    return _age(found) or (found and found[1])


def _read(file: Path) -> tuple[float, str | None] | None:
    try:
        found = json.loads(file.read_bytes())
        return float(found["at"]), found["trouble"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _age(found: tuple[float, str | None] | None) -> str | None:
    # The monotonic clock starts again when the machine boots, so a heartbeat from before may be in the future.
    if found is None or found[0] > time.monotonic():
        return "The runtime has not begun"
    age = time.monotonic() - found[0]
    return f"The runtime has done nothing for {age:.0f} s" if age > ALIVE_SECONDS else None
