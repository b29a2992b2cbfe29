"""Requests and limits of an agent's container, as users give them."""

from collections.abc import Iterator, Mapping
from typing import Any

from stowplan.library.builders import transfer
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import larger, without_fractions
from stowplan.schema.diagnostics import FieldPath, Finding, finding

Resources = dict[str, Json]
"""`requests` and `limits` of a container, each by resource name."""

LEAST_MEMORY = 128
"""Smallest memory limit of an agent in MiB."""


def merged(given: Mapping[str, Any], platform: Resources) -> Resources:
    """Return the user's requests and limits. Those of the platform are used for resources that the user does not give.

    `given` is a Kubernetes ResourceRequirements, empty for none. No request is larger than its limit, unless the user
    gives both.
    """
    own_limits, own_requests = given.get("limits") or {}, given.get("requests") or {}
    limits = {**platform["limits"], **own_limits}
    for name, request in own_requests.items():
        if name not in own_limits and (name not in limits or larger(request, limits[name])):
            limits[name] = request
    requests = {**platform["requests"], **own_requests}
    for name, limit in limits.items():
        if name not in own_requests and larger(requests.get(name), limit):
            requests[name] = limit
    return {"limits": without_fractions(limits), "requests": without_fractions(requests)}


def findings(given: Mapping[str, Any], resources: Resources, base: FieldPath) -> Iterator[Finding]:
    """Yield findings about the user's resources `given`, which are at the path `base`.

    The memory limit is that of `resources`, the result of `merged`.
    """
    limits = given.get("limits") or {}
    for name, request in (given.get("requests") or {}).items():
        if larger(request, limits.get(name)):
            message = f"The request of {name} is {request}, more than its limit, {limits[name]}."
            yield finding("SP205", (*base, "requests", name), message, "Lower it, or raise the limit.")
    if given.get("claims"):
        message = "An agent uses no devices."
        yield finding("SP445", (*base, "claims"), message, "Remove it.")
    least = transfer.memory(resources["limits"])
    if least < LEAST_MEMORY:
        message = f"The memory limit is {least} MiB; an agent needs at least {LEAST_MEMORY}."
        path = (*base, "limits", "memory") if "memory" in limits else (*base, "requests", "memory")
        yield finding("SP205", path, message, "Raise it; `1Gi` serves most transfers.")
