"""Pod affinity terms on one node."""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.library.values import labels


def same_node(selector: Mapping[str, str]) -> Json:
    """A term for pods of the same namespace that `selector` matches, on one node."""
    return {"labelSelector": {"matchLabels": dict(selector)}, "topologyKey": labels.HOSTNAME}


def required(term: Json) -> Json:
    """The scheduler must honour `term`."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def preferred(term: Json) -> Json:
    """The scheduler honours `term` where it can."""
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term, "weight": 100}]}


def spread(selector: Mapping[str, str]) -> Json:
    """A topology spread constraint: as few pods that `selector` matches on one node as there is room for."""
    return {
        "labelSelector": {"matchLabels": dict(selector)},
        "maxSkew": 1,
        "topologyKey": labels.HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
    }
