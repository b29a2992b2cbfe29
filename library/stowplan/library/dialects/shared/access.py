"""The ServiceAccounts of a spec's agents, their RBAC rights, and the NetworkPolicies of the agents."""

from collections.abc import Iterable, Sequence

from stowplan.library.builders.network_policy import network_policy
from stowplan.library.builders.rbac import role_binding, service_account, status_role
from stowplan.library.ir.data import Origin, Site
from stowplan.library.manifest import Manifest
from stowplan.schema.meta import SpecId

GROUP = "batch.paddlepaddle.org"


def manifests(
    base: str,
    origin: Origin,
    site: Site,
    *,
    plural: str,
    namespaces: Iterable[str],
    group: str = GROUP,
    after: Sequence[SpecId] = (),
) -> list[Manifest]:
    """Return ServiceAccounts, Role, RoleBinding and NetworkPolicies of a spec's agents.

    Each of `namespaces`, in which the agents run, gets an account and a policy. One Role in the spec's namespace gives
    all accounts access to the custom resource; `group` and `plural` name its kind. `base` is the name of all objects.
    `after` are the specs for which the agents wait, whose custom resources they may follow.
    """
    homes = sorted(set(namespaces))
    network = site.platform.network
    return [
        *(service_account(base, origin, namespace=home) for home in homes),
        status_role(base, origin, group=group, plural=plural, after=after),
        role_binding(base, origin, role=base, accounts=[(home, base) for home in homes]),
        *(network_policy(base, origin, namespace=home, network=network) for home in homes),
    ]
