"""References from one manifest to another."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_RBAC = "rbac.authorization.k8s.io"
_SCHEDULING = "scheduling.k8s.io"


@dataclass(frozen=True, slots=True)
class Reference:
    """A field of an object that names another object, and for a ConfigMap perhaps a key in it.

    `ordinal` is the number of a StatefulSet's pod that a pod affinity asks for.
    """

    target: ObjectId
    path: FieldPath
    key: str = ""
    ordinal: int | None = None


def references_of(own: ObjectId, body: Json, pods: Iterable[Pod]) -> Iterator[Reference]:
    """All references of a built-in object that must lead somewhere; optional ones are left out."""
    for pod in pods:
        yield from _pod(pod, own.namespace, _own_claims(body))
    match own.group, own.kind:
        case "apps", "StatefulSet":
            yield from _named(body, ("spec", "serviceName"), "", "Service", own.namespace)
        case "", "PersistentVolumeClaim":
            yield from _named(body, ("spec", "volumeName"), "", "PersistentVolume", "")
        case "", "PersistentVolume":
            yield from _volume(body)
        case group, "RoleBinding" | "ClusterRoleBinding" if group == _RBAC:
            yield from _binding(body, own.namespace)


def _named(body: Json, path: tuple[str, ...], group: str, kind: str, namespace: str) -> Iterator[Reference]:
    name = mapping(body, *path[:-1]).get(path[-1])
    if name:
        yield Reference(ObjectId(group, kind, namespace, name), path)


def _volume(body: Json) -> Iterator[Reference]:
    claim = mapping(body, "spec", "claimRef")
    if claim.get("name"):
        target = ObjectId("", "PersistentVolumeClaim", str(claim.get("namespace", "")), claim["name"])
        yield Reference(target, ("spec", "claimRef", "name"))


def _binding(body: Json, namespace: str) -> Iterator[Reference]:
    role = mapping(body, "roleRef")
    kind = str(role.get("kind"))
    place = namespace if kind == "Role" else ""
    yield Reference(ObjectId(_RBAC, kind, place, str(role.get("name"))), ("roleRef", "name"))
    for index, subject in enumerate(items(body, "subjects")):
        if subject.get("kind") == "ServiceAccount":
            target = ObjectId("", "ServiceAccount", str(subject.get("namespace") or namespace), subject["name"])
            yield Reference(target, ("subjects", index, "name"))


def _own_claims(body: Json) -> frozenset[str]:
    templates = items(body, "spec", "volumeClaimTemplates")
    return frozenset(str(mapping(template, "metadata").get("name")) for template in templates)


def _pod(pod: Pod, namespace: str, own_claims: frozenset[str]) -> Iterator[Reference]:
    place = pod.spec_path
    account = pod.spec.get("serviceAccountName")
    if account:
        yield Reference(ObjectId("", "ServiceAccount", namespace, account), (*place, "serviceAccountName"))
    priority = pod.spec.get("priorityClassName")
    if priority:
        yield Reference(ObjectId(_SCHEDULING, "PriorityClass", "", priority), (*place, "priorityClassName"))
    for index, volume in enumerate(items(pod.spec, "volumes")):
        if volume.get("name") not in own_claims:
            yield from _pod_volume(volume, namespace, (*place, "volumes", index))
    for path, container in pod.containers:
        yield from _environment(container, namespace, path)
    yield from _affinity(pod, namespace)


def _pod_volume(volume: Json, namespace: str, path: FieldPath) -> Iterator[Reference]:
    claim = mapping(volume, "persistentVolumeClaim").get("claimName")
    if claim:
        target = ObjectId("", "PersistentVolumeClaim", namespace, claim)
        yield Reference(target, (*path, "persistentVolumeClaim", "claimName"))
    yield from _config_map(volume.get("configMap"), namespace, (*path, "configMap"))
    for index, source in enumerate(items(volume, "projected", "sources")):
        yield from _config_map(source.get("configMap"), namespace, (*path, "projected", "sources", index, "configMap"))


def _environment(container: Json, namespace: str, path: FieldPath) -> Iterator[Reference]:
    for index, source in enumerate(items(container, "envFrom")):
        yield from _config_map(source.get("configMapRef"), namespace, (*path, "envFrom", index, "configMapRef"))
    for index, variable in enumerate(items(container, "env")):
        reference = mapping(variable, "valueFrom").get("configMapKeyRef")
        yield from _config_map(reference, namespace, (*path, "env", index, "valueFrom", "configMapKeyRef"))


def _config_map(source: Any, namespace: str, path: FieldPath) -> Iterator[Reference]:
    if not isinstance(source, dict) or not source.get("name") or source.get("optional"):
        return
    target = ObjectId("", "ConfigMap", namespace, source["name"])
    yield Reference(target, (*path, "name"))
    if source.get("key"):
        yield Reference(target, (*path, "key"), key=source["key"])
    for index, item in enumerate(items(source, "items")):
        yield Reference(target, (*path, "items", index, "key"), key=str(item["key"]))


def _affinity(pod: Pod, namespace: str) -> Iterator[Reference]:
    """Required terms that ask for one pod of a StatefulSet by its name."""
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(items(pod.spec, "affinity", "podAffinity", field)):
        name = mapping(term, "labelSelector", "matchLabels").get(labels.POD_NAME) or ""
        owner, _, ordinal = name.rpartition("-")
        if owner and ordinal.isdecimal() and not term.get("namespaces"):
            path = (*pod.spec_path, "affinity", "podAffinity", field, index, "labelSelector", "matchLabels")
            target = ObjectId("apps", "StatefulSet", namespace, owner)
            yield Reference(target, (*path, labels.POD_NAME), ordinal=int(ordinal))
