"""Do the platform and the namespaces of the output admit the pods that users described?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.pod_shapes import remembered
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.pods.excess import Excess, excess_of
from stowplan.compiler.checks.pods.security import baseline_violations, violations
from stowplan.compiler.checks.pods.violation import Violation
from stowplan.schema.diagnostics import FieldPath, Severity, dotted
from stowplan.schema.platform.platform import Platform

_ENFORCE = "pod-security.kubernetes.io/enforce"
_SHOWN = 3
"""Number of fields that a message names."""


class UserPod(NamedTuple):
    """A user's pod template at `path` that breaks a level of Pod Security.

    `baseline` and `restricted` name the fields that each level forbids. `excess` holds what the platform file does not
    allow, in any namespace.
    """

    owner: ObjectSummary
    path: FieldPath
    baseline: str
    restricted: str
    excess: tuple[Excess, ...]


class NamespaceLevel(NamedTuple):
    """The level of Pod Security that a Namespace enforces; empty if it enforces none."""

    namespace: str
    level: str


FACTS = (UserPod, NamespaceLevel)


def collect(found: SpecObjects) -> Iterator[UserPod | NamespaceLevel]:
    """The pods of training jobs and plain objects that break a level, and the levels of Namespaces."""
    for obj in found.objects.with_pods:
        for pod in obj.users_pods(found.platform):
            baseline, restricted = remembered(_forbidden, pod) if obj.training_pods else ("", "")
            excess = excess_of(obj, pod, found.platform)
            if baseline or restricted or excess:
                yield UserPod(obj.summary, pod.spec_path, baseline, restricted, excess)
    for obj in found.objects.of_kind("Namespace"):
        yield NamespaceLevel(obj.id.name, str(obj.labels.get(_ENFORCE) or ""))


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Users' pods against the level of the platform, and against that of their namespace if the output holds it.

    Templates pass through unchanged, so the user or the platform has to make both fit. A pod is reported for the
    stricter of the two levels. `policy.podSecurity` only changes the severity of what the cluster would refuse.
    """
    levels = dict(graph.facts(NamespaceLevel))
    return [
        found
        for pod in graph.facts(UserPod)
        for found in _check(pod, levels.get(pod.owner.id.namespace, ""), graph.platform)
    ]


def _forbidden(pod: Pod) -> tuple[str, str]:
    """The fields of a pod that the levels baseline and restricted forbid, in words."""
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
    """The finding for a pod that the cluster would refuse. Pod Security admission knows levels, but no grants."""
    policy = platform.policy.pod_security
    forbidden = {"baseline": pod.baseline, "restricted": pod.restricted}.get(level)
    if not forbidden or policy == "ignore":
        return []
    severity = Severity.ERROR if policy == "error" else Severity.WARNING
    message = f"The namespace enforces the level {level}, which forbids this: {forbidden}."
    return [about(pod.owner, "SP613", pod.path, message, _hint(pod.owner), severity=severity)]


def _hint(owner: ObjectSummary) -> str:
    """A TrainingJob has no templates, and no field for what its pods may do."""
    lower = "`namespaces.podSecurity` in the platform file"
    without_template = owner.spec is not None and owner.spec.kind == "TrainingJob"
    return f"Lower {lower}." if without_template else f"Change the template, or {lower}."
