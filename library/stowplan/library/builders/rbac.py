"""ServiceAccount, Role and RoleBinding of a spec's agents."""

from collections.abc import Collection, Sequence

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

COMPONENT = "access"


def service_account(name: str, origin: Origin, *, namespace: str) -> Manifest:
    """Return a ServiceAccount whose token is not mounted by default."""
    head = Head(origin, COMPONENT, namespace=namespace)
    return manifest("ServiceAccount", name, head, automountServiceAccountToken=False)


def status_role(name: str, origin: Origin, after: Sequence[SpecId] = ()) -> Manifest:
    """Return a Role for a spec's agents: they may read the spec's custom resource and patch its status, nothing else.

    They may also follow the custom resources of the specs `after`, for which they wait.
    """
    spec = origin.spec
    rules = [custom_resources(spec.kind, [spec.name], ["get"])]
    rules.append({**rules[0], "resources": [f"{KINDS[spec.kind].plural}/status"], "verbs": ["get", "patch"]})
    rules += [
        custom_resources(kind, [each.name for each in after if each.kind == kind], ["get", "watch"])
        for kind in sorted({each.kind for each in after})
    ]
    return manifest("Role", name, Head(origin, COMPONENT), rules=rules)


def custom_resources(kind: str, names: Collection[str], verbs: list[str]) -> Json:
    """Return the rule of a Role about the custom resources of a kind with these names."""
    return {
        "apiGroups": [KINDS[kind].group],
        "resources": [KINDS[kind].plural],
        "resourceNames": sorted(names),
        "verbs": verbs,
    }


def role_binding(name: str, head: Head, accounts: Collection[tuple[str, str]]) -> Manifest:
    """Return a RoleBinding of the Role with the same name to ServiceAccounts, given as (namespace, name) pairs."""
    subjects = [{"kind": "ServiceAccount", "name": n, "namespace": ns} for ns, n in sorted(accounts)]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    return manifest("RoleBinding", name, head, roleRef=role, subjects=subjects)
