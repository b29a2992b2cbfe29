"""References from one manifest to another."""

from collections.abc import Iterable, Iterator
from typing import Any

from stowplan.compiler.checks.facts import Fact, Reference
from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_RBAC = "rbac.authorization.k8s.io"
_SCHEDULING = "scheduling.k8s.io"
REFERRING = frozenset({"ClusterRoleBinding", "PersistentVolume", "PersistentVolumeClaim", "RoleBinding", "StatefulSet"})
"""Kinds that refer to others beside what their pods do."""


_Found = tuple[ObjectId, FieldPath, str, int | None]
"""Target, path, key and ordinal of a reference."""


def references_of(own: Fact, body: Json, pods: Iterable[Pod]) -> Iterator[Reference]:
    """All references of a built-in object that must lead somewhere; optional ones are left out."""
    own_claims = _own_claims(body) if own.id.kind == "StatefulSet" else frozenset()
    for pod in pods:
        for found in _pod(pod, own.id.namespace, own_claims):
            yield Reference(own, *found)
    if own.id.kind in REFERRING:
        for found in _fields(own, body):
            yield Reference(own, *found)


def _fields(own: Fact, body: Json) -> Iterator[_Found]:
    match own.kind:
        case "apps", "StatefulSet":
            yield from _named(body, ("spec", "serviceName"), "Service", own.id.namespace)
        case "", "PersistentVolumeClaim":
            yield from _named(body, ("spec", "volumeName"), "PersistentVolume", "")
        case "", "PersistentVolume":
            yield from _volume(body)
        case group, "RoleBinding" | "ClusterRoleBinding" if group == _RBAC:
            yield from _binding(body, own.id.namespace)


def _named(body: Json, path: tuple[str, ...], kind: str, namespace: str) -> Iterator[_Found]:
    name = mapping(body, *path[:-1]).get(path[-1])
    if name:
        yield ObjectId("", kind, namespace, name), path, "", None


def _volume(body: Json) -> Iterator[_Found]:
    claim = mapping(body, "spec", "claimRef")
    if claim.get("name"):
        target = ObjectId("", "PersistentVolumeClaim", str(claim.get("namespace", "")), claim["name"])
        yield target, ("spec", "claimRef", "name"), "", None


def _binding(body: Json, namespace: str) -> Iterator[_Found]:
    role = mapping(body, "roleRef")
    kind = str(role.get("kind"))
    place = namespace if kind == "Role" else ""
    yield ObjectId(_RBAC, kind, place, str(role.get("name"))), ("roleRef", "name"), "", None
    for index, subject in enumerate(items(body, "subjects")):
        if subject.get("kind") == "ServiceAccount":
            target = ObjectId("", "ServiceAccount", str(subject.get("namespace") or namespace), subject["name"])
            yield target, ("subjects", index, "name"), "", None


def _own_claims(body: Json) -> frozenset[str]:
    templates = items(body, "spec", "volumeClaimTemplates")
    return frozenset(str(mapping(template, "metadata").get("name")) for template in templates)


def _pod(pod: Pod, namespace: str, own_claims: frozenset[str]) -> Iterator[_Found]:
    place = pod.spec_path
    account = pod.spec.get("serviceAccountName")
    if account:
        yield ObjectId("", "ServiceAccount", namespace, account), (*place, "serviceAccountName"), "", None
    priority = pod.spec.get("priorityClassName")
    if priority:
        yield ObjectId(_SCHEDULING, "PriorityClass", "", priority), (*place, "priorityClassName"), "", None
    for index, volume in enumerate(items(pod.spec, "volumes")):
        if volume.get("name") not in own_claims:
            yield from _pod_volume(volume, namespace, (*place, "volumes", index))
    for path, container in pod.containers:
        yield from _environment(container, namespace, path)
    if "affinity" in pod.spec:
        yield from _affinity(pod, namespace)


def _pod_volume(volume: Json, namespace: str, path: FieldPath) -> Iterator[_Found]:
    if "persistentVolumeClaim" in volume and (claim := mapping(volume["persistentVolumeClaim"]).get("claimName")):
        target = ObjectId("", "PersistentVolumeClaim", namespace, claim)
        yield target, (*path, "persistentVolumeClaim", "claimName"), "", None
    if "configMap" in volume:
        yield from _config_map(volume["configMap"], namespace, (*path, "configMap"))
    for index, source in enumerate(items(volume, "projected", "sources") if "projected" in volume else ()):
        yield from _config_map(source.get("configMap"), namespace, (*path, "projected", "sources", index, "configMap"))


def _environment(container: Json, namespace: str, path: FieldPath) -> Iterator[_Found]:
    for index, source in enumerate(items(container, "envFrom") if "envFrom" in container else ()):
        yield from _config_map(source.get("configMapRef"), namespace, (*path, "envFrom", index, "configMapRef"))
    for index, variable in enumerate(items(container, "env")):
        if "valueFrom" in variable:
            reference = mapping(variable, "valueFrom").get("configMapKeyRef")
            yield from _config_map(reference, namespace, (*path, "env", index, "valueFrom", "configMapKeyRef"))


def _config_map(source: Any, namespace: str, path: FieldPath) -> Iterator[_Found]:
    if not isinstance(source, dict) or not source.get("name") or source.get("optional"):
        return
    target = ObjectId("", "ConfigMap", namespace, source["name"])
    yield target, (*path, "name"), "", None
    if source.get("key"):
        yield target, (*path, "key"), source["key"], None
    for index, item in enumerate(items(source, "items") if "items" in source else ()):
        yield target, (*path, "items", index, "key"), str(item["key"]), None


def _affinity(pod: Pod, namespace: str) -> Iterator[_Found]:
    """Required terms that ask for one pod of a StatefulSet by its name."""
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(items(pod.spec, "affinity", "podAffinity", field)):
        name = mapping(term, "labelSelector", "matchLabels").get(labels.POD_NAME) or ""
        owner, _, ordinal = name.rpartition("-")
        if owner and ordinal.isdecimal() and not term.get("namespaces"):
            path = (*pod.spec_path, "affinity", "podAffinity", field, index, "labelSelector", "matchLabels")
            yield ObjectId("apps", "StatefulSet", namespace, owner), (*path, labels.POD_NAME), "", int(ordinal)
