"""Space that files take in the cache of a cluster node."""

from stowplan.agents.cache.drivers.juicefs.control import Filled

BLOCK = 4 << 20
"""Size of a block in bytes, by default. JuiceFS splits each file into blocks."""

OVERHEAD = 4096
"""Bytes that JuiceFS adds to each block when it counts the size of a cache (`pkg/chunk/disk_cache.go`)."""

MARGIN_PERCENT = 5
"""Percentage that a cache should be larger than its content, since its directories are filled unevenly."""


def space(filled: Filled) -> int:
    """Return how many bytes of a cache the files take, at most."""
    return filled.bytes + OVERHEAD * (filled.files + filled.bytes // BLOCK)


def enough(filled: Filled) -> int:
    """Return the size in MiB of a cache that holds the files."""
    return -(-space(filled) * (100 + MARGIN_PERCENT) // (100 << 20))
