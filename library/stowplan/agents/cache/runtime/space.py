"""Space that is left in the cache of this cluster node: in its budget, and in the memory of the node.

A cache pod sees no directory of its node, so it cannot ask for the free space of the cache's disks. JuiceFS does not
report that space either. It drops blocks when a disk has too little, though, and counts them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from stowplan.agents.cache.drivers.api import Pulse
from stowplan.schema.platform.cache_directories import is_shared_memory

MEMORY_FILE = Path("/proc/meminfo")
"""File with the memory of the cluster node, also in a container. Everybody may read it (`man 5 proc_meminfo`).

In a container with a kernel of its own, such as one of Kata Containers, it has the memory of that virtual machine.
"""

_IN_CLIENT = "memory"
"""Value of `cache-dir` by which JuiceFS caches in the memory of its process, without a directory."""


def memory_share(options: Sequence[str], named: Sequence[str]) -> Fraction:
    """Return the share of a cache that is in memory, from 0 to 1.

    `options` are the options of the mount; its `cache-dir` lists the directories, over which JuiceFS splits the cache
    evenly. In memory are those below `/dev/shm` and those of `named`.
    """
    values = [value for key, _, value in (option.partition("=") for option in options) if key == "cache-dir"]
    directories = [part for part in values[-1].split(":") if part] if values else []
    in_memory = sum(each == _IN_CLIENT or each in named or is_shared_memory(each) for each in directories)
    return Fraction(in_memory, len(directories) or 1)


def expires(options: Sequence[str]) -> bool:
    """Return whether the cache also drops blocks because of their age (`cache-expire`)."""
    return any(option.partition("=")[0] == "cache-expire" for option in options)


def available_memory(file: Path = MEMORY_FILE) -> int | None:
    """Return the bytes that programs can take without swapping; None if `file` has no such line."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    found = next((line.split() for line in lines if line.startswith("MemAvailable:")), [])
    return int(found[1]) << 10 if len(found) == 3 and found[1].isascii() and found[1].isdigit() else None


@dataclass
class Space:
    """Computes the space that is left from one check of the mount after the other."""

    budget_bytes: int
    """Maximum size of the cache."""
    memory_share: Fraction
    """Share of the cache that is in memory, from 0 to 1."""
    expires: bool
    """True if the cache also drops blocks because of their age. Dropped blocks then say nothing about space."""
    memory_file: Path = MEMORY_FILE
    _evictions: int | None = None
    _full_at: int | None = None
    """Size of the cache in bytes when it last had to drop blocks; None if it has grown since then, or never had to."""

    def left(self, pulse: Pulse) -> int | None:
        """Return the bytes that the cache can still take; None if unknown. Call this once for each check, in order.

        It is the free part of the budget. The part of it that is in memory is at most the available memory of the
        node. A cache that has dropped blocks for lack of space takes no more than it held then, until it grows again.
        """
        cached = pulse.cached_bytes
        if cached is None:
            return None
        self._look(cached, pulse.evictions)
        size = self.budget_bytes if self._full_at is None else min(self.budget_bytes, self._full_at)
        left = max(0, size - cached)
        in_memory, memory = int(left * self.memory_share), available_memory(self.memory_file)
        return left - in_memory + (in_memory if memory is None else min(in_memory, memory))

    def _look(self, cached: int, evictions: int | None) -> None:
        before, self._evictions = self._evictions, evictions
        if self.expires or evictions is None or before is None or evictions < before:
            # The counter begins with the process of the mount, so an unknown or smaller one is of another process.
            self._full_at = None
        elif evictions > before:
            self._full_at = cached
        elif self._full_at is not None and cached > self._full_at:
            self._full_at = None
