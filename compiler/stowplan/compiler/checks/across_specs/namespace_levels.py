"""Do the platform and the namespaces of the output admit the pods that users described?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.pod_shapes import remembered
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.pods.excess import excess_of
from stowplan.compiler.checks.pods.security import baseline_violations, violations
from stowplan.compiler.checks.pods.violation import Violation
from stowplan.library.dialects.registry import pods
from stowplan.schema.diagnostics import FieldPath, Severity, dotted, finding
from stowplan.schema.platform.platform import Platform

_ENFORCE = "pod-security.kubernetes.io/enforce"
_SHOWN = 3
"""Most fields that a message names."""


class UserPod(NamedTuple):
    """A user's pod template, with its spec at `path` of `owner`, that breaks a level of Pod Security.

    `baseline` and `restricted` name the fields that each level forbids, joined by commas; empty if there are none.
    `excess` holds the fields that the platform file allows in no namespace.
    """

    owner: ObjectSummary
    path: FieldPath
    baseline: str
    restricted: str
    excess: tuple[Violation, ...]


class NamespaceLevel(NamedTuple):
    """The level of Pod Security that a Namespace enforces; empty if it enforces none."""

    namespace: str
    level: str


def collect(found: SpecObjects) -> Iterator[UserPod | NamespaceLevel]:
    """Yield the pods of training jobs and plain objects that break a level, and the levels of Namespaces.

    A plain object is a Kubernetes object that a user wrote among the specs.
    """
    for obj in found.objects.with_pods:
        for pod in obj.users_pods(found.platform):
            baseline, restricted = remembered(_forbidden, pod) if obj.training_pods else ("", "")
            excess = excess_of(obj, pod, found.platform)
            if baseline or restricted or excess:
                yield UserPod(obj.summary, pod.spec_path, baseline, restricted, excess)
    for obj in found.objects.of_kind("Namespace"):
        yield NamespaceLevel(obj.id.name, str(obj.labels.get(_ENFORCE) or ""))


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return findings for users' pods that break the level of the platform, or that of their Namespace in the output.

    The compiler does not change templates, so a person has to change the pod or the level. A pod is reported for the
    stricter of the two levels. `policy.podSecurity` only changes the severity of what the cluster would refuse.
    """
    levels = dict(graph.facts(NamespaceLevel))
    return [
        found
        for pod in graph.facts(UserPod)
        for found in _check(pod, levels.get(pod.owner.id.namespace, ""), graph.platform)
    ]


def _forbidden(pod: Pod) -> tuple[str, str]:
    """Return the fields of a pod that the level baseline forbids, and those that restricted forbids, as two strings."""
    start = len(pod.path)
    return _fields(baseline_violations(pod), start), _fields(violations(pod), start)


def _fields(broken: Sequence[Violation], start: int) -> str:
    fields = [dotted(violation.path[start:]) for violation in broken]
    rest = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return f"{', '.join(fields[:_SHOWN])}{rest}"


def _check(pod: UserPod, level: str, platform: Platform) -> list[ObjectFinding]:
    refused = _refused(pod, level, platform)
    stricter = level == "restricted" != platform.policy.pod_security_level
    if pod.excess and not (stricter and platform.policy.pod_security == "error" and refused):
        return [about(pod.owner, "SP614", each.path, each.message, each.hint) for each in pod.excess]
    return refused


def _refused(pod: UserPod, level: str, platform: Platform) -> list[ObjectFinding]:
    """Return the finding for a pod that its Namespace, with this `level`, would refuse; empty if it would not.

    Pod Security admission of Kubernetes knows only levels, not the exceptions that the platform file allows.
    """
    policy = platform.policy.pod_security
    forbidden = {"baseline": pod.baseline, "restricted": pod.restricted}.get(level)
    if not forbidden or policy == "ignore":
        return []
    severity = Severity.ERROR if policy == "error" else Severity.WARNING
    message = f"The namespace enforces the level {level}, which forbids this: {forbidden}."
    found = finding("SP613", pod.path, message, _hint(pod.owner), severity=severity)
    return [ObjectFinding(pod.owner.id, found, pod.owner.spec, pod.owner.source)]


def _hint(owner: ObjectSummary) -> str:
    """Return the hint. Without a template that a user could change, only the level remains."""
    lower = "`namespaces.podSecurity` in the platform file"
    return f"Change the template, or {lower}." if pods(owner.spec).templates else f"Lower {lower}."
