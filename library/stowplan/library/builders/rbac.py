"""ServiceAccount, Role and RoleBinding of a spec's agents."""

from collections.abc import Sequence

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

_COMPONENT = "access"
_GROUP = "rbac.authorization.k8s.io"


def service_account(name: str, origin: Origin, *, namespace: str) -> Manifest:
    """Return a ServiceAccount whose token is not mounted by default."""
    body = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata("ServiceAccount", name, origin, _COMPONENT, namespace=namespace),
        "automountServiceAccountToken": False,
    }
    return Manifest(body, stem=name)


def status_role(name: str, origin: Origin, *, group: str, plural: str, after: Sequence[SpecId] = ()) -> Manifest:
    """Return a Role for a spec's agents: they may read the spec's custom resource and patch its status, nothing else.

    `group` and `plural` name the kind, such as `batch` and `jobs`. They may also follow the custom resources of the
    specs `after`, for which they wait.
    """
    rules: list[Json] = [
        {"apiGroups": [group], "resources": [plural], "resourceNames": [origin.spec.name], "verbs": ["get"]},
        {
            "apiGroups": [group],
            "resources": [f"{plural}/status"],
            "resourceNames": [origin.spec.name],
            "verbs": ["get", "patch"],
        },
        *(
            _followed(kind, [each.name for each in after if each.kind == kind])
            for kind in sorted({each.kind for each in after})
        ),
    ]
    meta = metadata("Role", name, origin, _COMPONENT, namespace=origin.spec.namespace)
    return Manifest({"apiVersion": f"{_GROUP}/v1", "kind": "Role", "metadata": meta, "rules": rules}, stem=name)


def _followed(kind: str, names: Sequence[str]) -> Json:
    model = KINDS[kind]
    return {
        "apiGroups": [model.group()],
        "resources": [model.PLURAL],
        "resourceNames": sorted(names),
        "verbs": ["get", "watch"],
    }


def role_binding(
    name: str, origin: Origin, *, role: str, accounts: list[tuple[str, str]], component: str = _COMPONENT
) -> Manifest:
    """Return a RoleBinding of the Role named `role` to ServiceAccounts, given as (namespace, name) pairs."""
    body = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": metadata("RoleBinding", name, origin, component, namespace=origin.spec.namespace),
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": n, "namespace": ns} for ns, n in sorted(accounts)],
    }
    return Manifest(body, stem=name)
