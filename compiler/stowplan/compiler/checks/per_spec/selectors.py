"""Does every selector select something?"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from stowplan.compiler.checks.facts.facts import Fact, PodLabels, Selector
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath

_CODE = "SP506"
_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
SELECTING = frozenset({"NetworkPolicy", "PodDisruptionBudget", "Service"})
"""Kinds that select pods, beside those that have pods."""
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


def check(objects: Objects) -> list[ObjectFinding]:
    """A workload's selector matches its own template; the API server refuses it otherwise."""
    found = []
    for obj in objects.of_kind(*_WORKLOADS):
        for pod in obj.pods:
            if not matches(mapping(obj.body, "spec", "selector"), pod.labels):
                message = "The selector does not match the labels of the pod template."
                found.append(about(obj, _CODE, ("spec", "selector"), message, "Make both alike."))
    return found


def check_pods(world: World) -> list[ObjectFinding]:
    """Selectors of our Services, budgets, policies and required pod affinities match a pod of their namespace."""
    given = [selector for part in world.parts for selector in part.selectors]
    message = "No pod of this namespace is compiled that the selector matches."
    hint = "Change the selector or the labels of the pods."
    wrong = unmatched(given, (pod for part in world.parts for pod in part.pods)) if given else []
    return [about(selector.owner, _CODE, selector.path, message, hint) for selector in wrong]


def unmatched(given: Sequence[Selector], pods: Iterable[PodLabels]) -> list[Selector]:
    """Those that match none of the pods in their namespace."""
    known = _PodLabels(pods, given)
    return [selector for selector in given if not known.any_matches(selector)]


def selectors_of(owner: Fact, obj: Object) -> list[Selector]:
    """The selectors of an object that we wrote which must match a pod."""
    if not obj.authored:
        return []
    found = [Selector(owner, path, value) for path, value in _own_selector(obj)] if obj.kind[1] in SELECTING else []
    for pod in obj.pods:
        if "affinity" in pod.spec:
            found += [Selector(owner, path, value) for path, value in _affinities(pod)]
    return found


class _PodLabels:
    """The labels of all pods, found by one label that a selector asks for: comparing each with each is slow."""

    def __init__(self, compiled: Iterable[PodLabels], given: Iterable[Selector]) -> None:
        asked: dict[str, set[str]] = {}
        for selector in given:
            asked.setdefault(selector.owner.id.namespace, set()).update(_wanted(selector))
        self._by_label: dict[tuple[str, str, str], list[Json]] = {}
        self._by_namespace: dict[str, list[Json]] = {}
        for namespace, names, values in (pod for pod in compiled if pod.namespace in asked):
            own = dict(zip(names, values, strict=True))
            self._by_namespace.setdefault(namespace, []).append(own)
            for key in asked[namespace].intersection(names):
                self._by_label.setdefault((namespace, key, own[key]), []).append(own)

    def any_matches(self, selector: Selector) -> bool:
        namespace = selector.owner.id.namespace
        groups = [self._by_label.get((namespace, key, value), []) for key, value in _wanted(selector).items()]
        candidates = min(groups, key=len) if groups else self._by_namespace.get(namespace, [])
        return any_matches(selector.value, candidates)


def _wanted(selector: Selector) -> dict[str, str]:
    """The labels that it asks of a pod which is compiled."""
    asked = mapping(selector.value, "matchLabels")
    return {key: value for key, value in asked.items() if key not in _SET_BY_CONTROLLERS}


def any_matches(selector: Json, pods: Iterable[Json]) -> bool:
    """Whether a selector matches the labels of one of these pods."""
    return any(matches(selector, pod) for pod in pods)


def matches(selector: Json, pod: Json) -> bool:
    """Whether a selector matches the labels of a pod."""
    for key, value in mapping(selector, "matchLabels").items():
        if pod.get(key) != value and key not in _SET_BY_CONTROLLERS:
            return False
    return all(_expression(rule, pod) for rule in items(selector, "matchExpressions"))


def _own_selector(obj: Object) -> Iterator[tuple[FieldPath, Json]]:
    body = obj.body
    match obj.kind[1]:
        case "Service" if mapping(body, "spec", "selector"):
            yield ("spec", "selector"), {"matchLabels": mapping(body, "spec", "selector")}
        case "PodDisruptionBudget":
            yield ("spec", "selector"), mapping(body, "spec", "selector")
        case "NetworkPolicy" if mapping(body, "spec", "podSelector"):
            yield ("spec", "podSelector"), mapping(body, "spec", "podSelector")


def _affinities(pod: Pod) -> Iterator[tuple[FieldPath, Json]]:
    for index, term in enumerate(items(pod.spec, "affinity", "podAffinity", _REQUIRED)):
        if not term.get("namespaces") and not term.get("namespaceSelector"):
            path = (*pod.spec_path, "affinity", "podAffinity", _REQUIRED, index, "labelSelector")
            yield path, mapping(term, "labelSelector")


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
