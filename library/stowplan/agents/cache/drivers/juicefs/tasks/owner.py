"""Who owns a flag of the lock, for those on the same machine, who can look whether it lives."""

import json
import os
from pathlib import Path

from stowplan.agents.attempt.safe_files import boot, json_object


def told() -> bytes:
    """Who this process is."""
    found = {"boot": boot(), "processes": _processes(), "process": os.getpid(), "began": _began(os.getpid())}
    return json.dumps(found).encode()


def has_died(content: bytes) -> bool:
    """Whether a process of this very machine, in sight of this one, is no more. False where that cannot be known."""
    try:
        other = json_object(content) or {}
        here = bool(other["boot"]) and other["boot"] == boot() and other["processes"] == _processes()
        return here and _began(int(other["process"])) != other["began"]
    except (ValueError, KeyError, TypeError, OverflowError):
        return False


def _processes() -> str:
    """Names the set of processes that this one can see."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _began(process: int) -> str:
    """When a process began, in ticks since the start of the machine; empty if it is no more."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
