"""Identity of a process that owns a lock flag. Programs on the same machine can check whether the process lives."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stowplan.agents.attempt.safe_files import boot, json_object


def identity() -> bytes:
    """Return the identity of this process, as a JSON object for the content of a flag."""
    found = {"boot": boot(), "processes": _processes(), "process": os.getpid(), "began": _began(os.getpid())}
    return json.dumps(found).encode()


def has_died(content: bytes) -> bool:
    """Return whether the process with this identity (the result of `identity`) has ended.

    False also if that cannot be known, for example if the process is on another machine or in another PID namespace.
    """
    try:
        other = json_object(content) or {}
        return _is_here(other) and _began(int(other["process"])) != other["began"]
    except (ValueError, KeyError, TypeError, OverflowError):
        return False


def lives_here(content: bytes) -> bool:
    """Return whether the process with this identity lives in the PID namespace of this process: in its container."""
    try:
        other = json_object(content) or {}
        return _is_here(other) and _began(int(other["process"])) == other["began"] != ""
    except (ValueError, KeyError, TypeError, OverflowError):
        return False


def _is_here(other: Mapping[str, Any]) -> bool:
    return bool(other["boot"]) and other["boot"] == boot() and other["processes"] == _processes()


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
