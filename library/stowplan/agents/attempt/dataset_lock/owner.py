"""Identity of a process that owns a lock flag. Programs on the same machine can check whether the process lives."""

import json
import os
from pathlib import Path

from stowplan.agents.attempt.safe_files import boot, json_object


def identity() -> bytes:
    """Return the identity of this process, as a JSON object for the content of a flag."""
    found = {"boot": boot(), "processes": _processes(), "process": os.getpid(), "began": _began(os.getpid())}
    return json.dumps(found).encode()


def has_died(content: bytes) -> bool:
    """Return whether the process with this identity (the result of `identity`) has ended.

    False also if that cannot be known, for example if the process is on another machine or in another PID namespace.
    """
    return _lives(content) is False


def lives_here(content: bytes) -> bool:
    """Return whether the process with this identity lives in the PID namespace of this process: in its container."""
    return _lives(content) is True


def _lives(content: bytes) -> bool | None:
    """Return whether the process with this identity lives; None if that cannot be known."""
    try:
        other = json_object(content) or {}
        if not other["boot"] or other["boot"] != boot() or other["processes"] != _processes():
            return None
        began = _began(int(other["process"]))
        return False if began != other["began"] else bool(began) or None
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _processes() -> str:
    """Return the name of this process's PID namespace; empty if it is unknown."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _began(process: int) -> str:
    """Return the start time of the process with this PID, in clock ticks since boot; empty if the process has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
