"""Does a role grant more than the agents need?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_CODE = "SP604"
_HINT = "Name what is needed, and nothing else."
_TAKING_OVER = frozenset({"bind", "escalate", "impersonate"})
_RUNNING = frozenset({"nodes/proxy", "pods/attach", "pods/ephemeralcontainers", "pods/exec", "serviceaccounts/token"})
_SUPERUSERS = frozenset({"admin", "cluster-admin", "edit"})


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for roles and bindings that Stowplan writes; users and extensions answer for their own.

    The check refuses wildcards, Secrets without names, verbs that lead to more rights (`escalate`, `bind`,
    `impersonate`), access to other pods and nodes, cluster-wide bindings and bindings to superusers.
    """
    found: list[ObjectFinding] = []
    for obj in objects.of_kind("Role", "ClusterRole"):
        if obj.authored:
            for index, rule in enumerate(items(obj.body, "rules")):
                found += _rule(obj, rule, ("rules", index))
    for obj in objects.of_kind("RoleBinding", "ClusterRoleBinding"):
        if obj.authored:
            found += _binding(obj)
    return found


def _rule(obj: Object, rule: Json, path: FieldPath) -> Iterator[ObjectFinding]:
    for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
        if field in rule and "*" in "".join(rule[field] or ()):
            yield about(obj, _CODE, (*path, field), "The rule has a wildcard.", _HINT)
    resources, verbs = set(rule.get("resources") or ()), set(rule.get("verbs") or ())
    if "secrets" in resources and not rule.get("resourceNames"):
        message = "The rule reaches every Secret of the namespace."
        yield about(obj, _CODE, (*path, "resources"), message, "Add resourceNames.")
    for verb in sorted(verbs & _TAKING_OVER):
        message = f'With the verb "{verb}" an account can give itself any right.'
        yield about(obj, _CODE, (*path, "verbs"), message, _HINT)
    for resource in sorted(resources & _RUNNING):
        message = f'With "{resource}" an account can act as other pods or nodes.'
        yield about(obj, _CODE, (*path, "resources"), message, _HINT)


def _binding(obj: Object) -> Iterator[ObjectFinding]:
    role = mapping(obj.body, "roleRef")
    if role.get("kind") == "ClusterRole" and role.get("name") in _SUPERUSERS:
        message = f"The binding gives the rights of {role['name']}."
        yield about(obj, _CODE, ("roleRef", "name"), message, "Bind a Role with only what is needed.")
    if obj.kind[1] == "ClusterRoleBinding":
        message = "The binding is for all namespaces of the cluster."
        yield about(obj, _CODE, ("kind",), message, "Write a RoleBinding in each namespace.")
    for index, subject in enumerate(items(obj.body, "subjects")):
        if subject.get("kind") == "Group":
            message = f'The binding is for the group "{subject.get("name")}".'
            yield about(obj, _CODE, ("subjects", index), message, "Bind a ServiceAccount.")
