"""Status of a DatasetTask, without the entries about attempts, which its agents write."""

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules import sample_job
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import SUSPENDED, Status, by_type
from stowplan.schema.kinds.native.dataset_task import TASKS


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    spec = seen.resource.spec
    task = next((word for field, word in TASKS.items() if field in spec), "")
    found = sample_job.of_task(seen, task)
    if found is None:
        return None
    held = (by_type(found).get(SUSPENDED) or {}).get("status") == "True"
    waits = "phase" not in found and bool(spec.get("suspend"))
    return {**found, "phase": "Suspended"} if held or waits else found


RULES = Rules(
    status,
    frozenset("phase run partitions startTime completionTime conditions observedGeneration".split()),
    dict.fromkeys(["datasetRef", *TASKS, "schedule", "suspend"]),
)
