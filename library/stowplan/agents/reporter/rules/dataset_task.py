"""Status of a DatasetTask."""

from stowplan.agents.reporter.observed import Observed
from stowplan.agents.reporter.rules.conditions import Status

FIELDS = frozenset("phase conditions observedGeneration".split())


def status(seen: Observed) -> Status | None:  # noqa: ARG001 - as the interface has it
    """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
    return None
