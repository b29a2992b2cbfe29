"""References from one manifest to another."""

from collections.abc import Callable, Iterable
from typing import Any

from stowplan.compiler.checks.objects.pods import Pod, account_of
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_RBAC = "rbac.authorization.k8s.io"
_SCHEDULING = "scheduling.k8s.io"
_REFERRING_VOLUMES = frozenset({"configMap", "persistentVolumeClaim", "projected"})

Found = tuple[ObjectId, FieldPath, str, int | None]
"""A reference: target, path of the field, key of a ConfigMap or empty, and number of a StatefulSet's pod or None."""


def references_of(own: ObjectId, body: Json, pods: Iterable[Pod]) -> list[Found]:
    """Return the references in an object of a built-in kind that need a target; optional ones are left out.

    `own` is the identity of the object, `pods` are its pod templates. Secrets are never among the targets.
    """
    own_claims = _own_claims(body) if own.kind == "StatefulSet" else frozenset()
    found = [each for pod in pods for each in _pod(pod, own.namespace, own_claims)]
    fields = _FIELDS.get(own[:2])
    return [*found, *fields(body, own.namespace)] if fields else found


def _named(body: Json, path: tuple[str, ...], kind: str, namespace: str) -> list[Found]:
    name = mapping(body, *path[:-1]).get(path[-1])
    return [(ObjectId("", kind, namespace, name), path, "", None)] if name else []


def _volume(body: Json, _namespace: str) -> list[Found]:
    claim = mapping(body, "spec", "claimRef")
    if not claim.get("name"):
        return []
    target = ObjectId("", "PersistentVolumeClaim", str(claim.get("namespace", "")), claim["name"])
    return [(target, ("spec", "claimRef", "name"), "", None)]


def _binding(body: Json, namespace: str) -> list[Found]:
    role = mapping(body, "roleRef")
    kind = str(role.get("kind"))
    place = namespace if kind == "Role" else ""
    found: list[Found] = [(ObjectId(_RBAC, kind, place, str(role.get("name"))), ("roleRef", "name"), "", None)]
    for index, subject in enumerate(items(body, "subjects")):
        if subject.get("kind") == "ServiceAccount":
            target = ObjectId("", "ServiceAccount", str(subject.get("namespace") or namespace), subject["name"])
            found.append((target, ("subjects", index, "name"), "", None))
    return found


_FIELDS: dict[tuple[str, str], Callable[[Json, str], list[Found]]] = {
    ("", "PersistentVolume"): _volume,
    ("", "PersistentVolumeClaim"): lambda body, _: _named(body, ("spec", "volumeName"), "PersistentVolume", ""),
    ("apps", "StatefulSet"): lambda body, namespace: _named(body, ("spec", "serviceName"), "Service", namespace),
    (_RBAC, "ClusterRoleBinding"): _binding,
    (_RBAC, "RoleBinding"): _binding,
}
REFERRING = frozenset(kind for _, kind in _FIELDS)
"""Kinds with references outside of their pods."""


def _own_claims(body: Json) -> frozenset[str]:
    templates = items(body, "spec", "volumeClaimTemplates")
    return frozenset(str(mapping(template, "metadata").get("name")) for template in templates)


def _pod(pod: Pod, namespace: str, own_claims: frozenset[str]) -> list[Found]:
    found: list[Found] = []
    field, account = account_of(pod)
    if account:
        found.append((ObjectId("", "ServiceAccount", namespace, account), field, "", None))
    priority = pod.spec.get("priorityClassName")
    if priority:
        target = ObjectId(_SCHEDULING, "PriorityClass", "", priority)
        found.append((target, (*pod.spec_path, "priorityClassName"), "", None))
    for index, volume in enumerate(pod.volumes):
        if not _REFERRING_VOLUMES.isdisjoint(volume) and volume.get("name") not in own_claims:
            found += _pod_volume(volume, namespace, (*pod.spec_path, "volumes", index))
    for path, container in pod.containers:
        if "envFrom" in container or "env" in container:
            found += _environment(container, namespace, path)
    return [*found, *_affinity(pod, namespace)] if "affinity" in pod.spec else found


def _pod_volume(volume: Json, namespace: str, path: FieldPath) -> list[Found]:
    found: list[Found] = []
    if "persistentVolumeClaim" in volume and (claim := mapping(volume["persistentVolumeClaim"]).get("claimName")):
        target = ObjectId("", "PersistentVolumeClaim", namespace, claim)
        found.append((target, (*path, "persistentVolumeClaim", "claimName"), "", None))
    if "configMap" in volume:
        found += _config_map(volume["configMap"], namespace, (*path, "configMap"))
    for index, source in enumerate(items(volume, "projected", "sources") if "projected" in volume else ()):
        place = (*path, "projected", "sources", index, "configMap")
        found += _config_map(source.get("configMap"), namespace, place)
    return found


def _environment(container: Json, namespace: str, path: FieldPath) -> list[Found]:
    found: list[Found] = []
    for index, source in enumerate(items(container, "envFrom") if "envFrom" in container else ()):
        found += _config_map(source.get("configMapRef"), namespace, (*path, "envFrom", index, "configMapRef"))
    for index, variable in enumerate(items(container, "env")):
        if "valueFrom" in variable and (reference := mapping(variable, "valueFrom").get("configMapKeyRef")):
            found += _config_map(reference, namespace, (*path, "env", index, "valueFrom", "configMapKeyRef"))
    return found


def _config_map(source: Any, namespace: str, path: FieldPath) -> list[Found]:
    if not isinstance(source, dict) or not source.get("name") or source.get("optional"):
        return []
    target = ObjectId("", "ConfigMap", namespace, source["name"])
    found: list[Found] = [(target, (*path, "name"), "", None)]
    if source.get("key"):
        found.append((target, (*path, "key"), source["key"], None))
    for index, item in enumerate(items(source, "items") if "items" in source else ()):
        found.append((target, (*path, "items", index, "key"), str(item["key"]), None))
    return found


def _affinity(pod: Pod, namespace: str) -> list[Found]:
    """Return references from required pod affinities that ask for one pod of a StatefulSet by the label of its name."""
    found: list[Found] = []
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(items(pod.spec, "affinity", "podAffinity", field)):
        name = mapping(term, "labelSelector", "matchLabels").get(labels.POD_NAME) or ""
        owner, _, ordinal = name.rpartition("-")
        if owner and ordinal.isdecimal() and not term.get("namespaces"):
            path = (*pod.spec_path, "affinity", "podAffinity", field, index, "labelSelector", "matchLabels")
            target = ObjectId("apps", "StatefulSet", namespace, owner)
            found.append((target, (*path, labels.POD_NAME), "", int(ordinal)))
    return found
