"""What the runtime tells its probes, in a file of the same pod. Loads little: probes run on every node all the time."""

import json
import os
import time
from pathlib import Path

ALIVE_SECONDS = 90.0
"""The runtime writes every few seconds, whatever the mount does; one that has not for so long hangs itself."""


def path() -> Path:
    """In the pod's own scratch directory."""
    return Path(os.environ.get("HOME") or "/tmp") / "stowplan-runtime.json"  # noqa: S108 - of the pod


def beat(file: Path, trouble: str | None) -> None:
    """The runtime works, and whether the dataset can be used. Clocks may be set: this one only goes on."""
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps({"at": time.monotonic(), "trouble": trouble}), encoding="utf-8")
    temporary.replace(file)


def alive(file: Path) -> str | None:
    """None, or what is wrong with the runtime."""
    return _age(_read(file))


def ready(file: Path) -> str | None:
    """None, or what is wrong with the runtime or with the mount."""
    found = _read(file)
    return _age(found) or (found and found[1])


def _read(file: Path) -> tuple[float, str | None] | None:
    try:
        found = json.loads(file.read_bytes())
        return float(found["at"]), found["trouble"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _age(found: tuple[float, str | None] | None) -> str | None:
    # After a restart of the node the clock begins anew.
    if found is None or found[0] > time.monotonic():
        return "The runtime has not begun"
    age = time.monotonic() - found[0]
    return f"The runtime has done nothing for {age:.0f} s" if age > ALIVE_SECONDS else None
