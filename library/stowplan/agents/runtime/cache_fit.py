"""Caches that are too small for their dataset, as the warmups of its partitions report them."""

from collections.abc import Iterable, Mapping
from typing import Any

from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL

FITS = "Fits"
"""Reason of the condition `CACHE_TOO_SMALL` if no warmup has found a cache too small."""

_NAMED = 3
"""Maximum number of partitions that a message names."""

_BLOCK = 4 << 20
"""Size of a block in bytes, by default. JuiceFS splits each file into blocks."""

_OVERHEAD = 4096
"""Bytes that JuiceFS adds to each block when it counts the size of a cache (`pkg/chunk/disk_cache.go`)."""

_MARGIN_PERCENT = 5
"""Percentage that a cache should be larger than its content, since its directories are filled unevenly."""


def space(size: int, files: int) -> int:
    """Return an upper bound of the cache space in bytes that files need: `files` of them, of `size` bytes together."""
    return size + _OVERHEAD * (files + size // _BLOCK)


def enough(size: int, files: int) -> int:
    """Return the size in MiB of a cache that holds so many files, of `size` bytes together."""
    return -(-space(size, files) * (100 + _MARGIN_PERCENT) // (100 << 20))


def too_small(entries: Iterable[Mapping[str, Any]], partitions: Iterable[Mapping[str, Any]]) -> str:
    """Return a message about the partitions whose cache is too small, sorted by partition; empty if there are none.

    `entries` are entries of `status.attempts`. Only those of warmups that have ended with success are considered.
    `partitions` are entries of `status.partitions`, by which a cache may have become larger since.
    """
    budgets = {int(each.get("ordinal") or 0): int(each.get("budgetBytes") or 0) for each in partitions}
    found = {
        int(each.get("partition") or 0): str(each.get("message") or "")
        for each in entries
        if (each.get("task"), each.get("state"), each.get("reason")) == ("warmup", "succeeded", CACHE_TOO_SMALL)
        and not _has_grown(each, budgets)
    }
    named = [f"partition {number}: {message}" for number, message in sorted(found.items())[:_NAMED]]
    more = [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "; ".join([*named, *more])


def _has_grown(entry: Mapping[str, Any], budgets: Mapping[int, int]) -> bool:
    """Return whether the cache of a partition has become larger since its warmup, and now holds what that loads.

    A disk may be smaller than the budget of its cache, so the budget that was too small does not count.
    """
    budget, before = budgets.get(int(entry.get("partition") or 0), 0), entry.get("budgetBytes")
    if before is None or budget <= before:
        return False
    return budget >= enough(int(entry.get("totalBytes") or 0), int(entry.get("totalFiles") or 0)) << 20
