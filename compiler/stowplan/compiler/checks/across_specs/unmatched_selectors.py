"""Does every selector that Stowplan writes match a pod?"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.label_selectors import matches, required_labels
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_SELECTING = frozenset({"NetworkPolicy", "PodDisruptionBudget", "Service"})
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Selector(NamedTuple):
    """A label selector in the form of `metav1.LabelSelector`, the object that has it, and its path in that object."""

    owner: ObjectSummary
    path: FieldPath
    value: dict[str, Any]


class PodLabels(NamedTuple):
    """The labels of a pod, and its namespace."""

    namespace: str
    labels: dict[str, str]


def collect(found: SpecObjects) -> Iterator[Selector | PodLabels]:
    """Yield the labels of all pods of a spec, and the selectors of the spec that match none of these pods."""
    pods = [PodLabels(obj.id.namespace, pod.labels) for obj in found.objects.with_pods for pod in obj.pods]
    yield from pods
    yield from _unmatched([*_selectors(found.objects)], pods)


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each selector that Stowplan writes and that matches no pod of its namespace.

    Checked are Services, PodDisruptionBudgets, NetworkPolicies and required pod affinities.
    """
    message = "No pod of this namespace is compiled that the selector matches."
    hint = "Change the selector or the labels of the pods."
    wrong = _unmatched(graph.facts(Selector), graph.facts(PodLabels))
    return [about(selector.owner, "SP506", selector.path, message, hint) for selector in wrong]


def _unmatched(given: Sequence[Selector], pods: Iterable[PodLabels]) -> list[Selector]:
    """Return the selectors among `given` that match no pod of their namespace."""
    if not given:
        return []
    known = _PodsByLabel(pods, given)
    return [selector for selector in given if not known.any_matches(selector)]


class _PodsByLabel:
    """The labels of pods by one label that a selector asks for: comparing each selector with each pod is slow."""

    def __init__(self, pods: Iterable[PodLabels], given: Iterable[Selector]) -> None:
        asked: dict[str, set[str]] = {}
        for selector in given:
            asked.setdefault(selector.owner.id.namespace, set()).update(required_labels(selector.value))
        self._by_label: dict[tuple[str, str, str], list[Json]] = {}
        self._by_namespace: dict[str, list[Json]] = {}
        for namespace, labels in (pod for pod in pods if pod.namespace in asked):
            self._by_namespace.setdefault(namespace, []).append(labels)
            for key in asked[namespace].intersection(labels):
                self._by_label.setdefault((namespace, key, labels[key]), []).append(labels)

    def any_matches(self, selector: Selector) -> bool:
        """Whether the selector matches a pod of its namespace."""
        namespace = selector.owner.id.namespace
        wanted = required_labels(selector.value)
        groups = [self._by_label.get((namespace, key, value), []) for key, value in wanted.items()]
        candidates = min(groups, key=len) if groups else self._by_namespace.get(namespace, [])
        return any(matches(selector.value, pod) for pod in candidates)


def _selectors(objects: Objects) -> Iterator[Selector]:
    for obj in objects:
        if obj.authored and obj.kind[1] in _SELECTING:
            yield from (Selector(obj.summary, path, value) for path, value in _own_selector(obj))
        for pod in obj.pods if obj.authored else ():
            yield from (Selector(obj.summary, path, value) for path, value in _affinities(pod))


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
