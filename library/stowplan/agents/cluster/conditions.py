"""Conditions in the status of an object."""

from collections.abc import Mapping
from typing import Any

from stowplan.agents.cluster.answers import Manifest


def condition(found: Manifest, kind: str) -> Mapping[str, Any]:
    """Return the condition of this type; empty if the object has none."""
    return next((each for each in _conditions(found) if each.get("type") == kind), {})


def true_conditions(found: Manifest) -> dict[str, Mapping[str, Any]]:
    """Return the conditions of the object whose status is True, by type."""
    return {str(each.get("type")): each for each in _conditions(found) if each.get("status") == "True"}


def because(condition: Mapping[str, Any]) -> str:
    """Return reason and message of a condition: `BackoffLimitExceeded: Job has reached the specified backoff limit`."""
    return ": ".join(str(text) for key in ("reason", "message") if (text := condition.get(key)))


def _conditions(found: Manifest) -> list[Mapping[str, Any]]:
    return (found.get("status") or {}).get("conditions") or []
