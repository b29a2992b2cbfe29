"""Status of a SampleSet, without the fields that its agents write."""

from stowplan.agents.reporter.objects.observed import Observed, present_run
from stowplan.agents.reporter.rules import cached_data
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.schema.drivers.table import DEFAULT_DRIVER, DRIVERS


def status(seen: Observed) -> Status:
    """Return all status fields that the reporter owns; absent ones are None or missing."""
    spec = seen.resource.spec
    filled = bool((spec.get("source") or {}).get("uri")) and not spec.get("noSync")
    driver = DRIVERS.get((spec.get("csi") or {}).get("driver") or DEFAULT_DRIVER)
    wanted = cached_data.DatasetSpec(spec.get("partitions"), filled, driver is not None and driver.cached)
    return cached_data.status(seen, wanted, present_run(seen))


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
