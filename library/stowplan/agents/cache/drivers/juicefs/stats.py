"""Statistics of a JuiceFS mount, and a check that the mount and its metadata engine answer."""

import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.cache.drivers.api import Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import BoundedRunner, Completed, TimedOut
from stowplan.agents.cache.drivers.juicefs import reading

SECONDS = 10.0
"""Seconds after which a mount or a metadata engine without an answer is considered hanging."""

CACHED = "juicefs_blockcache_bytes"
"""Name of the statistic with the bytes in the cluster node's cache.

It counts blocks of the whole volume, not only of the dataset, and 4 KiB in addition for each block.
"""

EVICTIONS = "juicefs_blockcache_evicts"
"""Name of the statistic with the number of blocks that the cache has dropped: it was full, its disk had too little free
space, or the blocks were too old for the option `cache-expire`.

The statistic `juicefs_blockcache_drops` is of no use here: it counts blocks that the disk was too slow for, too.
"""

INODES = "juicefs_used_inodes"
"""Name of the statistic with the number of files and directories of the whole volume."""

_NO_VARIABLES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Stats:
    """Result of one check of a mount."""

    pulse: Pulse
    inodes: int | None
    """Number of inodes of the whole volume; None if unknown."""


def stats(asker: BoundedRunner, mount: Path) -> Stats:
    """Check the mount at `mount`: read its statistics, then look up a name that never existed.

    A lookup of any other name might be answered from a cache in memory, without the metadata engine.
    """
    name = f".stowplan-{uuid.uuid4().hex}"
    command = [sys.executable, "-I", "-S", reading.__file__, str(mount), name]
    answer = asker.ask(command, _NO_VARIABLES, SECONDS)
    found = numbers(answer.output)
    trouble = _trouble(answer, mount) if isinstance(answer, Completed) else _silence(answer)
    pulse = Pulse(_whole(found.get(CACHED)), trouble, _whole(found.get(EVICTIONS)))
    return Stats(pulse, _whole(found.get(INODES)))


def numbers(text: str) -> dict[str, float]:
    """Return the statistics in `text` as numbers by name. Each line is a name and a number; other lines are skipped."""
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


def _silence(answer: TimedOut) -> Trouble:
    if answer.output:
        return Trouble("MetadataSilent", f"The metadata engine has not answered for {SECONDS:.0f} s")
    return Trouble("MountHung", f"The mount has not answered for {SECONDS:.0f} s")


def _trouble(answer: Completed, mount: Path) -> Trouble | None:
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
