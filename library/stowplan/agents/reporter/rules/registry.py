"""The rules of all kinds of custom resources."""

from collections.abc import Mapping
from importlib import import_module

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.schema.kinds import table

RULES: Mapping[str, Rules] = {
    name: import_module(f"stowplan.agents.reporter.rules.{kind.module}").RULES for name, kind in table.KINDS.items()
}
"""The rules by kind."""


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns, without absent ones; None to leave the status unchanged."""
    rules = RULES[seen.resource.kind]
    found = rules.status(seen)
    if found is None:
        return None
    both = {"observedGeneration": seen.resource.generation} if "observedGeneration" in rules.fields else {}
    return {key: value for key, value in {**found, **both}.items() if value is not None}


def is_reported(seen: Observed, wanted: Status) -> bool:
    """Return whether the present status already equals `wanted` in all fields that the reporter owns.

    Of the conditions, only those in `wanted` are compared.
    """
    present = seen.resource.status
    for field in RULES[seen.resource.kind].fields - {"conditions"}:
        if present.get(field) != wanted.get(field):
            return False
    present_conditions = {each.get("type"): each for each in present.get("conditions") or ()}
    return all(present_conditions.get(each["type"]) == each for each in wanted.get("conditions") or ())
