"""Caches that are too small for their dataset, as the warmups of its partitions report them."""

from collections.abc import Iterable, Mapping
from typing import Any

from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL

FITS = "Fits"
"""Reason of the condition `CACHE_TOO_SMALL` if no warmup has found a cache too small."""

_NAMED = 3
"""Maximum number of partitions that a message names."""


def too_small(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return a message about the partitions whose cache is too small, sorted by partition; empty if there are none.

    `entries` are entries of `status.attempts`. Only those of warmups that have ended with success are considered.
    """
    found = {
        int(each.get("partition") or 0): str(each.get("message") or "")
        for each in entries
        if (each.get("task"), each.get("state"), each.get("reason")) == ("warmup", "succeeded", CACHE_TOO_SMALL)
    }
    named = [f"partition {number}: {message}" for number, message in sorted(found.items())[:_NAMED]]
    more = [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "; ".join([*named, *more])
