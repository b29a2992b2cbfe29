"""Does any role grant more than the agents need?"""

from collections.abc import Iterator

from stowplan.compiler.checks.manifests import authored, identity, items, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects
from stowplan.compiler.model import Output
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_CODE = "SP604"
_HINT = "Name what is needed, and nothing else."
_TAKING_OVER = frozenset({"bind", "escalate", "impersonate"})
_RUNNING = frozenset({"nodes/proxy", "pods/attach", "pods/ephemeralcontainers", "pods/exec", "serviceaccounts/token"})
_SUPERUSERS = frozenset({"admin", "cluster-admin", "edit"})


def check(objects: Objects) -> list[ObjectFinding]:
    """Roles and bindings that we write; those of users and extensions are their own responsibility.

    Refused are wildcards, secrets without names, verbs by which a right grants itself more (`escalate`, `bind`,
    `impersonate`), ways into other pods and nodes, roles over the whole cluster and bindings to superusers.
    """
    found: list[ObjectFinding] = []
    for output in objects.of_kind("Role", "ClusterRole"):
        if authored(output):
            for index, rule in enumerate(items(output.manifest.body, "rules")):
                found += _rule(output, rule, ("rules", index))
    for output in objects.of_kind("RoleBinding", "ClusterRoleBinding"):
        if authored(output):
            found += _binding(output)
    return found


def _rule(output: Output, rule: Json, path: FieldPath) -> Iterator[ObjectFinding]:
    for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
        if any("*" in text for text in rule.get(field) or ()):
            yield about(output, _CODE, (*path, field), "The rule has a wildcard.", _HINT)
    resources, verbs = set(rule.get("resources") or ()), set(rule.get("verbs") or ())
    if "secrets" in resources and not rule.get("resourceNames"):
        message = "The rule reaches every Secret of the namespace."
        yield about(output, _CODE, (*path, "resources"), message, "Add resourceNames.")
    for verb in sorted(verbs & _TAKING_OVER):
        message = f'With the verb "{verb}" an account can give itself any right.'
        yield about(output, _CODE, (*path, "verbs"), message, _HINT)
    for resource in sorted(resources & _RUNNING):
        message = f'With "{resource}" an account can act as other pods or nodes.'
        yield about(output, _CODE, (*path, "resources"), message, _HINT)


def _binding(output: Output) -> Iterator[ObjectFinding]:
    role = mapping(output.manifest.body, "roleRef")
    if role.get("kind") == "ClusterRole" and role.get("name") in _SUPERUSERS:
        message = f"The binding gives the rights of {role['name']}."
        yield about(output, _CODE, ("roleRef", "name"), message, "Bind a Role with only what is needed.")
    if identity(output.manifest.body).kind == "ClusterRoleBinding":
        message = "The binding is for all namespaces of the cluster."
        yield about(output, _CODE, ("kind",), message, "Write a RoleBinding in each namespace.")
    for index, subject in enumerate(items(output.manifest.body, "subjects")):
        if subject.get("kind") == "Group":
            message = f'The binding is for the group "{subject.get("name")}".'
            yield about(output, _CODE, ("subjects", index), message, "Bind a ServiceAccount.")
