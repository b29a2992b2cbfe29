"""Label selectors in the form of `metav1.LabelSelector`, and the pods that they select."""

from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.library.values import labels

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
"""Labels that pods get only in the cluster; a selector's requirement for one of them counts as fulfilled."""


def matches(selector: Json, pod: Json) -> bool:
    """Whether a label selector matches a pod with the labels `pod`. An empty selector matches all pods.

    A requirement for a label that pods get only in the cluster, such as `job-name`, counts as met.
    """
    for key, value in mapping(selector, "matchLabels").items():
        if pod.get(key) != value and key not in _SET_BY_CONTROLLERS:
            return False
    return all(_expression(rule, pod) for rule in items(selector, "matchExpressions"))


def required_labels(selector: Json) -> dict[str, str]:
    """Return the labels of `matchLabels` that a compiled pod must have: all but those that the cluster sets."""
    asked = mapping(selector, "matchLabels")
    return {key: value for key, value in asked.items() if key not in _SET_BY_CONTROLLERS}


def _expression(rule: Json, pod: Json) -> bool:
    key, values = str(rule.get("key")), rule.get("values") or []
    match rule.get("operator"):
        case "In":
            return key in _SET_BY_CONTROLLERS or pod.get(key) in values
        case "NotIn":
            return pod.get(key) not in values
        case "Exists":
            return key in pod or key in _SET_BY_CONTROLLERS
        case _:
            return key not in pod
