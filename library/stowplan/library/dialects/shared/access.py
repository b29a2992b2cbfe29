"""The account of a spec's agents, its rights, and the network policy of the agents."""

from collections.abc import Iterable

from stowplan.library.builders.network_policy import network_policy
from stowplan.library.builders.rbac import role_binding, service_account, status_role
from stowplan.library.ir.data import Origin, Site
from stowplan.library.manifest import Manifest

GROUP = "batch.paddlepaddle.org"


def manifests(
    base: str, origin: Origin, site: Site, *, plural: str, namespaces: Iterable[str], group: str = GROUP
) -> list[Manifest]:
    """An account and a network policy in each namespace that runs agents of the spec; one role for all of them."""
    homes = sorted(set(namespaces))
    network = site.platform.network
    return [
        *(service_account(base, origin, namespace=home) for home in homes),
        status_role(base, origin, group=group, plural=plural),
        role_binding(base, origin, role=base, accounts=[(home, base) for home in homes]),
        *(network_policy(base, origin, namespace=home, network=network) for home in homes),
    ]
