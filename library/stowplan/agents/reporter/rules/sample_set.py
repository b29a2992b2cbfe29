"""Status of a SampleSet, without the fields that its agents write."""

from collections.abc import Mapping
from typing import Any

from stowplan.agents.reporter.objects.observed import Observed, present_run
from stowplan.agents.reporter.rules import cached_data
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.schema.drivers.table import DEFAULT_DRIVER, DRIVERS


def status(seen: Observed) -> Status:
    """Return the status fields, as `Rules.status`."""
    spec = seen.resource.spec
    filled = bool((spec.get("source") or {}).get("uri")) and not spec.get("noSync")
    wanted = cached_data.DatasetSpec(spec.get("partitions"), filled, _is_cached(spec))
    return cached_data.status(seen, wanted, present_run(seen))


def _is_cached(spec: Mapping[str, Any]) -> bool:
    """Return whether cluster nodes cache the dataset. Otherwise the dataset is a claim without cache pods."""
    driver = (spec.get("csi") or {}).get("driver")
    known = DRIVERS.get(driver or DEFAULT_DRIVER)
    return known is not None and known.cached


RULES = Rules(
    status,
    cached_data.FIELDS,
    {
        "partitions": None,
        "noSync": None,
        "source": ("uri",),
        "csi": ("driver",),
    },
)
