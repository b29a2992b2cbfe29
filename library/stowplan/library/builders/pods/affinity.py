"""Pod affinity terms and spread constraints over cluster nodes."""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.library.values import labels


def same_node(selector: Mapping[str, str]) -> Json:
    """Return a pod affinity term: the cluster node must run a pod of the same namespace with the labels `selector`."""
    return {"labelSelector": {"matchLabels": dict(selector)}, "topologyKey": labels.HOSTNAME}


def required(term: Json) -> Json:
    """Return a pod affinity (or anti-affinity) with `term`, which the scheduler must satisfy."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def preferred(term: Json) -> Json:
    """Return a pod affinity (or anti-affinity) with `term`, which the scheduler satisfies if possible."""
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term, "weight": 100}]}


def spread(selector: Mapping[str, str]) -> Json:
    """Return a topology spread constraint: distribute the pods with the labels `selector` evenly over cluster nodes.

    It is a preference: the scheduler may break it.
    """
    return {
        "labelSelector": {"matchLabels": dict(selector)},
        "maxSkew": 1,
        "topologyKey": labels.HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
    }
