"""Resource requests of pods."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from stowplan.library.manifest import Json
from stowplan.library.values import quantities


def requests(spec: Json) -> dict[str, Decimal]:
    """Return how much a pod requests, by resource name. `spec` is the pod's spec.

    It is the sum over containers and sidecars, or more if an init container together with the sidecars before it needs
    more. A limit without a request counts as a request, which is Kubernetes' default. Invalid quantities are skipped.
    """
    running: defaultdict[str, Decimal] = defaultdict(Decimal)
    most: defaultdict[str, Decimal] = defaultdict(Decimal)
    for container in spec.get("initContainers") or ():
        for name, number in _container(container).items():
            most[name] = max(most[name], running[name] + number)
            running[name] += number if container.get("restartPolicy") == "Always" else 0
    for container in spec["containers"]:
        for name, number in _container(container).items():
            running[name] += number
    return {name: max(most[name], running[name]) for name in running | most}


def total(pods: Iterable[tuple[int, Json]]) -> dict[str, str]:
    """Return the sum of the requests of `pods`, as Kubernetes quantities by resource name, sorted.

    `pods` are pairs: the number of equal pods, and their spec. Sums of 0 are left out.
    """
    amounts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for count, spec in pods:
        for name, number in requests(spec).items():
            amounts[name] += count * number
    return {name: quantities.text(amounts[name]) for name in sorted(amounts) if amounts[name]}


def _container(container: Json) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    found = {name: quantities.amount(quantity) for name, quantity in wanted.items()}
    return {name: number for name, number in found.items() if number is not None}
