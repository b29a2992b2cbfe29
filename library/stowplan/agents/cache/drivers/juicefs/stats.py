"""What a JuiceFS client says of itself, and whether it and its metadata engine answer at all."""

import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.cache.drivers.api import Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Answer, Asker, Silence
from stowplan.agents.cache.drivers.juicefs import reading

SECONDS = 10.0
"""A client that does not answer for so long hangs, and so does a metadata engine."""

CACHED = "juicefs_blockcache_bytes"
"""Bytes in the cache of the node: of the whole volume, and 4 KiB more for each block than it holds."""

INODES = "juicefs_used_inodes"
"""Files and directories of the whole volume."""

_NO_VARIABLES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Stats:
    """A pulse, and what else its reading told."""

    pulse: Pulse
    inodes: int | None


def stats(asker: Asker, mount: Path) -> Stats:
    """Reads `.stats`, and looks for a name that was never there, since answers for others may come from memory."""
    name = f".stowplan-{uuid.uuid4().hex}"
    command = [sys.executable, "-I", "-S", reading.__file__, str(mount), name]
    answer = asker.ask(command, _NO_VARIABLES, SECONDS)
    found = numbers(answer.output)
    trouble = _trouble(answer, mount) if isinstance(answer, Answer) else _silence(answer)
    return Stats(Pulse(_whole(found.get(CACHED)), trouble), _whole(found.get(INODES)))


def numbers(text: str) -> dict[str, float]:
    """The statistics by name; lines that are none are left out."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            found[name] = float(value)
        except ValueError:
            continue
    return found


def _whole(value: float | None) -> int | None:
    return None if value is None else max(0, int(value))


def _silence(answer: Silence) -> Trouble:
    if answer.output:
        return Trouble("MetadataSilent", f"The metadata engine has not answered for {SECONDS:.0f} s")
    return Trouble("MountHung", f"The mount has not answered for {SECONDS:.0f} s")


def _trouble(answer: Answer, mount: Path) -> Trouble | None:
    code, _, said = answer.error.partition(" ")
    match answer.code, code:
        case 0, _ if CACHED in answer.output:
            return None
        case (0, _) | (reading.NO_STATISTICS, "ENOENT"):
            return Trouble("NotMounted", f"No JuiceFS is mounted at {mount}")
        case reading.NO_STATISTICS, "ENOTCONN":
            return Trouble("MountDead", "The client that served the mount has ended")
        case reading.NO_METADATA, _:
            return Trouble("MetadataFaulty", f"The metadata engine cannot be asked: {said}")
        case _:
            return Trouble("MountFaulty", f"The mount cannot be read: {said or f'exit code {answer.code}'}")
