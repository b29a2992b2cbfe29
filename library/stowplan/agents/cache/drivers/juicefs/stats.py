"""Statistics of a JuiceFS mount, and a check that the mount and its metadata engine answer."""

import sys
import uuid
from pathlib import Path

from stowplan.agents.cache.drivers.api import Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import BoundedRunner, Ended
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


def stats(asker: BoundedRunner, mount: Path) -> tuple[Pulse, int | None]:
    """Check the mount at `mount`: read its statistics, then look up a name that never existed.

    Return the result, and the number of inodes of the whole volume; None if it is unknown.

    A lookup of any other name might be answered from a cache in memory, without the metadata engine.
    """
    name = f".stowplan-{uuid.uuid4().hex}"
    command = [sys.executable, "-I", "-S", reading.__file__, str(mount), name]
    answer = asker.ask(command, _NO_VARIABLES, SECONDS)
    found = numbers(answer.output)
    pulse = Pulse(_whole(found.get(CACHED)), _trouble(answer, mount), _whole(found.get(EVICTIONS)))
    return pulse, _whole(found.get(INODES))


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


def _trouble(answer: Ended, mount: Path) -> Trouble | None:
    code, _, said = answer.error.partition(" ")
    match answer.code, code:
        case None, _:
            reason, what = ("MetadataSilent", "The metadata engine") if answer.output else ("MountHung", "The mount")
            return Trouble(reason, f"{what} has not answered for {SECONDS:.0f} s")
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
