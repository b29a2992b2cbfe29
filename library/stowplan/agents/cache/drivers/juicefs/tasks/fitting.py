"""Choice of the files that fit into the cache of a cluster node."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from stowplan.agents.cache.drivers.juicefs.control import Filled

BLOCK = 4 << 20
"""Size of a block in bytes, by default. JuiceFS splits each file into blocks."""

OVERHEAD = 4096
"""Bytes that JuiceFS adds to each block when it counts the size of a cache (`pkg/chunk/disk_cache.go`)."""

KEPT_PERCENT = 95
"""Percentage of its size to which a cache shrinks when it exceeds its size (`cleanupFull` in the same file)."""

STEP = 256
"""Number of files that are looked at together."""

Check = Callable[["array[int]"], Filled]
"""Function that returns the size of the files with these inode numbers."""


def room(filled: Filled) -> int:
    """Return how many bytes of a cache the files take, at most."""
    return filled.bytes + OVERHEAD * (filled.files + filled.bytes // BLOCK)


def enough(filled: Filled) -> int:
    """Return the size in MiB of a cache that holds the files, even if its directories are filled unevenly."""
    return -(-room(filled) * 100 // (KEPT_PERCENT << 20))


@dataclass(frozen=True, slots=True)
class CacheSize:
    """Size of the cache of a cluster node in bytes; None if it is unknown."""

    bytes: int | None

    def holds(self, filled: Filled) -> bool:
        """Return whether the cache is large enough for the files. True if the size of the cache is unknown."""
        return self.bytes is None or room(filled) <= self.bytes

    def choose(self, files: "array[int]", check: Check) -> "array[int]":
        """Return those of the files that fit into the cache together, in their order, beginning with the first.

        A file that is larger than the cache is left out.
        """
        if self.bytes is None:
            return files
        limit = self.bytes * KEPT_PERCENT // 100
        chosen, taken, start, step = array("Q"), 0, 0, STEP
        while start < len(files):
            some = files[start : start + step]
            size = room(check(some))
            if taken + size <= limit:
                chosen.extend(some)
                taken += size
            elif step > 1:
                step //= 2
                continue
            elif size <= limit:
                break
            start += step
        return chosen
