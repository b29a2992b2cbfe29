"""Status of a Dataset, without the fields that its agents write."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stowplan.agents.reporter.objects.observed import Observed, ObservedRun
from stowplan.agents.reporter.rules import cached_data, tasks
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.schema.drivers.table import DRIVERS

_REFRESH = re.compile(r"-refresh(-warmup-[0-9]+)?-[0-9]+\Z")
"""End of the names of Jobs that a refresh starts: the name of the CronJob, and the scheduled minute."""


def status(seen: Observed) -> Status:
    """Return all status fields that the reporter owns; absent ones are None or missing.

    The first sync decides the phase: the data of a refresh that fails are still those of the last one.
    """
    spec = seen.resource.spec
    nodes = _cache_nodes(spec)
    wanted = cached_data.DatasetSpec(nodes, filled=bool(spec.get("source")), cached=nodes is not None)
    first = _only(seen, refresh=False)
    copied, warmed = tasks.run_of("sync", first), tasks.run_of("warmup", seen)
    run = ObservedRun(copied.name, (*copied.jobs, *warmed.jobs), (), (*copied.pods, *warmed.pods))
    refresh = tasks.run_of("sync", _only(seen, refresh=True))
    refreshed = [tasks.condition_of("Refreshed", refresh)] if refresh.jobs else []
    return cached_data.status(first, wanted, run, refreshed)


def _cache_nodes(spec: Mapping[str, Any]) -> int | None:
    """Return the number of cluster nodes that cache the dataset; None if none does."""
    volume = spec.get("volume") or {}
    cached = spec.get("cache") and any(volume.get(driver.field) for driver in DRIVERS.values() if driver.cached)
    return int(spec["cache"].get("nodes") or 1) if cached else None


def _only(seen: Observed, *, refresh: bool) -> Observed:
    """Return `seen` with only those Jobs and their pods that a refresh has started, or that none has started."""
    jobs = [each for each in seen.jobs if bool(_REFRESH.search(each.name)) == refresh]
    pods = [each for each in seen.pods if bool(_REFRESH.search(each.job)) == refresh]
    return replace(seen, jobs=jobs, pods=pods)


RULES = Rules(status, cached_data.FIELDS, {"source": None, "volume": None, "cache": ("nodes",)})
