"""Does every selector select something?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_CODE = "SP506"
_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SET_BY_CONTROLLERS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/job-name",
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "pod-template-hash",
        labels.POD_NAME,
    }
)
"""Labels that pods get only in the cluster; a selector on one of them is taken to match."""


@dataclass(frozen=True, slots=True)
class _Selector:
    """A label selector in the form of `metav1.LabelSelector`, and where it stands."""

    path: FieldPath
    value: Json


def check(objects: Objects) -> list[ObjectFinding]:
    """Selectors of our Services, budgets, policies and required pod affinities match a pod of their namespace.

    A workload's selector matches its own template; the API server refuses it otherwise.
    """
    pods = _PodLabels(objects)
    found: list[ObjectFinding] = []
    for obj in objects:
        found += _own_template(obj)
        if obj.authored:
            found += _others(obj, pods)
    return found


class _PodLabels:
    """The labels of all pods, found by namespace and by one label: comparing each selector with each pod is slow."""

    def __init__(self, objects: Objects) -> None:
        self._by_label: dict[tuple[str, str, str], list[Json]] = {}
        self._by_namespace: dict[str, list[Json]] = {}
        for obj in objects:
            namespace = obj.id.namespace
            for pod in obj.pods:
                own = mapping(pod.metadata, "labels")
                self._by_namespace.setdefault(namespace, []).append(own)
                for key, value in own.items():
                    self._by_label.setdefault((namespace, key, value), []).append(own)

    def any_matches(self, namespace: str, selector: Json) -> bool:
        wanted = [pair for pair in mapping(selector, "matchLabels").items() if pair[0] not in _SET_BY_CONTROLLERS]
        groups = [self._by_label.get((namespace, key, value), []) for key, value in wanted]
        candidates = min(groups, key=len) if groups else self._by_namespace.get(namespace, [])
        return any(_matches(selector, pod) for pod in candidates)


def _own_template(obj: Object) -> Iterator[ObjectFinding]:
    if obj.id.kind not in _WORKLOADS:
        return
    for pod in obj.pods:
        if not _matches(mapping(obj.body, "spec", "selector"), mapping(pod.metadata, "labels")):
            message = "The selector does not match the labels of the pod template."
            yield about(obj, _CODE, ("spec", "selector"), message, "Make both alike.")


def _others(obj: Object, pods: _PodLabels) -> Iterator[ObjectFinding]:
    namespace = obj.id.namespace
    for selector in _selectors(obj):
        if not pods.any_matches(namespace, selector.value):
            message = "No pod of this namespace is compiled that the selector matches."
            yield about(obj, _CODE, selector.path, message, "Change the selector or the labels of the pods.")


def _selectors(obj: Object) -> Iterator[_Selector]:
    body = obj.body
    match obj.id.kind:
        case "Service" if mapping(body, "spec", "selector"):
            yield _Selector(("spec", "selector"), {"matchLabels": mapping(body, "spec", "selector")})
        case "PodDisruptionBudget":
            yield _Selector(("spec", "selector"), mapping(body, "spec", "selector"))
        case "NetworkPolicy" if mapping(body, "spec", "podSelector"):
            yield _Selector(("spec", "podSelector"), mapping(body, "spec", "podSelector"))
    for pod in obj.pods:
        for index, term in enumerate(items(pod.spec, "affinity", "podAffinity", _REQUIRED)):
            if not term.get("namespaces") and not term.get("namespaceSelector"):
                path = (*pod.spec_path, "affinity", "podAffinity", _REQUIRED, index, "labelSelector")
                yield _Selector(path, mapping(term, "labelSelector"))


def _matches(selector: Json, pod: Json) -> bool:
    equal = all(_has(pod, key, [value]) for key, value in mapping(selector, "matchLabels").items())
    return equal and all(_expression(rule, pod) for rule in items(selector, "matchExpressions"))


def _expression(rule: Json, pod: Json) -> bool:
    key, values = str(rule.get("key")), rule.get("values") or []
    match rule.get("operator"):
        case "In":
            return _has(pod, key, values)
        case "NotIn":
            return pod.get(key) not in values
        case "Exists":
            return key in pod or key in _SET_BY_CONTROLLERS
        case _:
            return key not in pod


def _has(pod: Json, key: str, values: list[Any]) -> bool:
    return key in _SET_BY_CONTROLLERS or pod.get(key) in values
