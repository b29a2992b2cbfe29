"""The ServiceAccounts of a spec's agents, their RBAC rights, and the NetworkPolicies of the agents."""

from collections.abc import Iterable, Sequence

from stowplan.library.builders.metadata import Head
from stowplan.library.builders.network_policy import network_policy
from stowplan.library.builders.rbac import COMPONENT, role_binding, service_account, status_role
from stowplan.library.ir.data import Origin, Site
from stowplan.library.manifest import Part
from stowplan.schema.meta import SpecId


def access(base: str, origin: Origin, site: Site, *, namespaces: Iterable[str], after: Sequence[SpecId] = ()) -> Part:
    """Return the part with ServiceAccounts, Role, RoleBinding and NetworkPolicies of a spec's agents.

    Each of `namespaces`, in which the agents run, gets an account and a policy. One Role in the spec's namespace gives
    all accounts access to the custom resource. `base` is the name of all objects. `after` are the specs for which the
    agents wait, whose custom resources they may follow.
    """
    homes = sorted(set(namespaces))
    network = site.platform.network
    made = (
        *(service_account(base, origin, namespace=home) for home in homes),
        status_role(base, origin, after),
        role_binding(base, Head(origin, COMPONENT), [(home, base) for home in homes]),
        *(network_policy(base, origin, namespace=home, network=network) for home in homes),
    )
    return Part("access", made)
