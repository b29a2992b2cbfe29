"""File by which the runtime informs its probes.

This module loads little, since probes run on every node all the time.
"""

import json
import os
import time
from pathlib import Path

ALIVE_SECONDS = 90.0
"""Maximum age in seconds. The runtime writes every few seconds, whatever the mount does; an older file means it hangs.
"""


def path() -> Path:
    """Return the file's path in the pod's scratch directory."""
    return Path(os.environ.get("HOME") or "/tmp") / "stowplan-runtime.json"  # noqa: S108 - of the pod


def beat(file: Path, trouble: str | None) -> None:
    """Write the present time and the mount's trouble, if any. The monotonic clock cannot be set back."""
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps({"at": time.monotonic(), "trouble": trouble}), encoding="utf-8")
    temporary.replace(file)


def alive(file: Path) -> str | None:
    """Return the problem of the runtime; None if it is alive."""
    return _age(_read(file))


def ready(file: Path) -> str | None:
    """Return the problem of the runtime or the mount; None if the dataset can be used."""
    found = _read(file)
    return _age(found) or (found and found[1])


def _read(file: Path) -> tuple[float, str | None] | None:
    try:
        found = json.loads(file.read_bytes())
        return float(found["at"]), found["trouble"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _age(found: tuple[float, str | None] | None) -> str | None:
    # The clock starts again with the node.
    if found is None or found[0] > time.monotonic():
        return "The runtime has not begun"
    age = time.monotonic() - found[0]
    return f"The runtime has done nothing for {age:.0f} s" if age > ALIVE_SECONDS else None
