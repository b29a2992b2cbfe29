"""What pods ask of the scheduler."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from stowplan.library import quantities
from stowplan.library.manifest import Json


def requests(spec: Json) -> dict[str, Decimal]:
    """Amounts by resource: of all containers and sidecars together, or of an init container that asks for more.

    A limit without a request is a request (Kubernetes defaults it so). What is no quantity is left out.
    """
    total: defaultdict[str, Decimal] = defaultdict(Decimal)
    inits = spec.get("initContainers") or ()
    running = [*(each for each in inits if each.get("restartPolicy") == "Always"), *spec["containers"]]
    for container in running:
        for name, number in _container(container).items():
            total[name] += number
    for container in inits:
        if container.get("restartPolicy") != "Always":
            for name, number in _container(container).items():
                total[name] = max(total[name], number)
    return dict(total)


def total(pods: Iterable[tuple[int, Json]]) -> dict[str, str]:
    """The sum over so many pods of each spec, as quantities, sorted by resource."""
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
