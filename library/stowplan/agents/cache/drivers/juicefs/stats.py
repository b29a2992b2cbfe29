"""Statistics of a JuiceFS client, and a check that it and its metadata engine answer."""

import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.cache.drivers.api import Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Answer, Asker, Silence
from stowplan.agents.cache.drivers.juicefs import reading

SECONDS = 10.0
"""Seconds after which a client or a metadata engine without an answer is considered hanging."""

CACHED = "juicefs_blockcache_bytes"
"""Bytes in the node's cache: blocks of the whole volume, plus 4 KiB for each block."""

INODES = "juicefs_used_inodes"
"""Files and directories of the whole volume."""

_NO_VARIABLES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Stats:
    """Pulse of the mount, and the volume's number of inodes."""

    pulse: Pulse
    inodes: int | None


def stats(asker: Asker, mount: Path) -> Stats:
    """Read `.stats`, then look up a name that never existed, since other answers may come from a cache in memory."""
    name = f".stowplan-{uuid.uuid4().hex}"
    command = [sys.executable, "-I", "-S", reading.__file__, str(mount), name]
    answer = asker.ask(command, _NO_VARIABLES, SECONDS)
    found = numbers(answer.output)
    trouble = _trouble(answer, mount) if isinstance(answer, Answer) else _silence(answer)
    return Stats(Pulse(_whole(found.get(CACHED)), trouble), _whole(found.get(INODES)))


def numbers(text: str) -> dict[str, float]:
    """Parse the statistics by name; skip invalid lines."""
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
