"""Risks of objects that grant rights or access: RBAC, AppProjects, Applications, webhooks, volumes, namespaces."""

from collections.abc import Callable, Iterator

from stowplan.compiler.diff.change import Danger, Pair, Risk
from stowplan.compiler.diff.risks import claims, rights
from stowplan.compiler.diff.wording import shown
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json

_SHOWN_RIGHTS = 6
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_LEVEL = "pod-security.kubernetes.io/enforce"
_LEVELS = ("privileged", "baseline", "restricted")
_GROWS = ("clusterResourceWhitelist", "destinations", "namespaceResourceWhitelist", "sourceRepos", "sourceNamespaces")
_GROWS_TOO = ("roles", "destinationServiceAccounts")
_SHRINKS = ("clusterResourceBlacklist", "namespaceResourceBlacklist", "signatureKeys", "syncWindows")


def grants(pair: Pair) -> Iterator[Risk]:
    """Yield each risk that the new version of the object has and the old one has not; none for a removed object."""
    if pair.after is None:
        return
    before, rule = pair.before or {}, _RULES.get(pair.kind)
    if rule:
        known = set(rule(before))
        yield from sorted({risk for risk in rule(pair.after) if risk not in known}, key=lambda risk: risk.text)
    if pair.kind in rights.ROLES:
        yield from _role(pair.before, pair.after)
    if pair.kind == "AppProject":
        yield from _project(before, pair.after)
    if pair.kind == "Namespace" and _level(pair.after) < _level(before):
        text = f"Its Pod Security level is {_LEVELS[_level(pair.after)]}, and was {_LEVELS[_level(before)]}."
        yield Risk(Danger.SECURITY, text)
    if pair.kind == "NetworkPolicy" and pair.before and mapping(before, "spec") != mapping(pair.after, "spec"):
        yield Risk(Danger.SECURITY, "Its pods may send or receive other network traffic.")


def _role(before: Json | None, after: Json) -> Iterator[Risk]:
    new = list(rights.said(rights.added(before, after)))
    shown_ones = new[:_SHOWN_RIGHTS]
    more = f"; and {len(new) - len(shown_ones)} more" if len(new) > len(shown_ones) else ""
    if new:
        yield Risk(Danger.RIGHTS, f"New rights: {'; '.join(shown_ones)}{more}.")
    selectors = mapping(after, "aggregationRule")
    if selectors and selectors != mapping(before, "aggregationRule"):
        yield Risk(Danger.RIGHTS, f"It takes over the rights of other ClusterRoles: {shown(selectors)}.")
    known = mapping(before, "metadata", "labels")
    for label, value in mapping(after, "metadata", "labels").items():
        if str(label).startswith(_AGGREGATE) and value == "true" != known.get(label):
            yield Risk(Danger.RIGHTS, f"Its rights are added to ClusterRole {str(label).removeprefix(_AGGREGATE)}.")


def _binding(body: Json) -> Iterator[Risk]:
    role = mapping(body, "roleRef")
    for subject in items(body, "subjects"):
        place = f"{subject['namespace']}/" if subject.get("namespace") else ""
        who = f"{subject.get('kind')} {place}{subject.get('name')}"
        yield Risk(Danger.RIGHTS, f"{who} is given the rights of {role.get('kind', 'Role')} {role.get('name')}.")


def _project(before: Json, after: Json) -> Iterator[Risk]:
    """Yield a risk for each change of an AppProject that lets Argo CD do more; `before` is empty for a new project.

    An empty whitelist of namespaced kinds allows all.
    """
    old, new = mapping(before, "spec"), mapping(after, "spec")
    if not before:
        repositories, places = shown(new.get("sourceRepos")), shown(new.get("destinations"))
        yield Risk(Danger.RIGHTS, f"A new project lets Argo CD sync {repositories} to {places}.")
        return
    for field in (*_GROWS, *_GROWS_TOO):
        more = [each for each in _list(new, field) if each not in _list(old, field)]
        if more:
            yield Risk(Danger.RIGHTS, f"Argo CD may do more: {field} has grown by {shown(more)}.")
    kinds = "namespaceResourceWhitelist"
    if _list(old, kinds) and not _list(new, kinds):
        yield Risk(Danger.RIGHTS, f"Argo CD may do more: without {kinds}, it syncs every namespaced kind.")
    for field in _SHRINKS:
        if any(each not in _list(new, field) for each in _list(old, field)):
            yield Risk(Danger.RIGHTS, f"Argo CD may do more: {field} has shrunk.")


def _application(body: Json) -> Iterator[Risk]:
    spec = mapping(body, "spec", "template", "spec") if body.get("kind") == "ApplicationSet" else mapping(body, "spec")
    if not spec:
        return
    place = mapping(spec, "destination")
    server = place.get("server") or place.get("name")
    yield Risk(Danger.RIGHTS, f"Argo CD acts under the project {spec.get('project')}.")
    yield Risk(Danger.RIGHTS, f"Argo CD writes to the namespace {place.get('namespace')} of {server}.")
    hydrated = [mapping(spec, "sourceHydrator", field) for field in ("drySource", "syncSource")]
    for source in (mapping(spec, "source"), *items(spec, "sources"), *hydrated):
        if source:
            what = source.get("path") or source.get("chart")
            origin = f"{what} of {source.get('repoURL')} at {source.get('targetRevision')}"
            yield Risk(Danger.RIGHTS, f"Argo CD syncs {origin}.")
        for tool in ("plugin", "helm", "kustomize"):
            if tool in source:
                yield Risk(Danger.RIGHTS, f"Argo CD runs {tool} with {shown(source[tool])}.")


def _webhook(body: Json) -> Iterator[Risk]:
    for hook in items(body, "webhooks"):
        yield Risk(Danger.RIGHTS, f"{shown(hook.get('clientConfig'))} sees requests to the API server.")


def _volume(body: Json) -> Iterator[Risk]:
    spec = mapping(body, "spec")
    for kind in ("hostPath", "local"):
        if kind in spec:
            yield Risk(Danger.SECURITY, f"The volume is {mapping(spec, kind).get('path')} of a node.")
    namespace = mapping(spec, "claimRef").get("namespace")
    for source in (value for value in spec.values() if isinstance(value, dict)):
        for field, secret in source.items():
            if str(field).lower().endswith("secretref") and mapping(secret).get("namespace", namespace) != namespace:
                own = f"{secret['namespace']}/{secret.get('name')}"
                yield Risk(Danger.RIGHTS, f"Its pods use the Secret {own}, which is in another namespace.")


def _level(body: Json) -> int:
    """Return the index in `_LEVELS` of a Namespace's level; without the label, that of the default `privileged`."""
    level = mapping(body, "metadata", "labels").get(_LEVEL)
    return _LEVELS.index(level) if level in _LEVELS else 0


def _list(spec: Json, field: str) -> list[object]:
    found = spec.get(field)
    return found if isinstance(found, list) else []


_RULES: dict[str, Callable[[Json], Iterator[Risk]]] = {
    "Application": _application,
    "ApplicationSet": _application,
    "ClusterRoleBinding": _binding,
    "MutatingWebhookConfiguration": _webhook,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": claims.of_claim,
    "RoleBinding": _binding,
    "StatefulSet": claims.of_templates,
    "ValidatingWebhookConfiguration": _webhook,
}
