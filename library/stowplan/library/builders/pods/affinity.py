"""Pod affinity terms on one node."""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.library.values import labels


def same_node(selector: Mapping[str, str]) -> Json:
    """Return a term for pods of the same namespace that `selector` matches, on one node."""
    return {"labelSelector": {"matchLabels": dict(selector)}, "topologyKey": labels.HOSTNAME}


def required(term: Json) -> Json:
    """Return an affinity that the scheduler must satisfy."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def preferred(term: Json) -> Json:
    """Return an affinity that the scheduler satisfies if possible."""
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term, "weight": 100}]}


def spread(selector: Mapping[str, str]) -> Json:
    """Return a topology spread constraint: distribute the pods that `selector` matches evenly over the nodes."""
    return {
        "labelSelector": {"matchLabels": dict(selector)},
        "maxSkew": 1,
        "topologyKey": labels.HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
    }
