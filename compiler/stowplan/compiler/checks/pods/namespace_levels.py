"""Do the platform and the namespaces of the output admit the pods that users described?"""

from collections.abc import Iterator, Sequence

from stowplan.compiler.checks.facts.facts import Brought, Fact
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.pod_shapes import remembered
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.excess import excess_of
from stowplan.compiler.checks.pods.security import Violation, baseline_violations, violations
from stowplan.schema.diagnostics import Severity, dotted
from stowplan.schema.platform.platform import Platform

_ENFORCE = "pod-security.kubernetes.io/enforce"
_SHOWN = 3
"""Fields that a message names."""


def check(world: World, platform: Platform) -> list[ObjectFinding]:
    """Users' pods against the level of the platform, and against that of their namespace if the output holds it.

    Templates pass through unchanged, so it is for the user or the platform to make both fit. A pod is reported for the
    stricter of the two levels. `policy.podSecurity` only softens what the cluster would refuse anyway.
    """
    levels = dict(level for part in world.parts for level in part.levels)
    return [
        found
        for part in world.parts
        for pod in part.brought
        for found in _check(pod, levels.get(pod.owner.id.namespace, ""), platform)
    ]


def brought_by(owner: Fact, obj: Object, platform: Platform) -> Iterator[Brought]:
    """The pods that a user described in a training job or a plain object, if a level forbids something of them."""
    for pod in obj.users_pods(platform):
        baseline, restricted = remembered(_forbidden, pod) if obj.brought_pods else ("", "")
        excess = excess_of(obj, pod, platform)
        if baseline or restricted or excess:
            yield Brought(owner, pod.spec_path, baseline, restricted, excess)


def level_of(obj: Object) -> str:
    """The level that a Namespace enforces, empty where it says none."""
    return str(obj.labels.get(_ENFORCE) or "")


def _forbidden(pod: Pod) -> tuple[str, str]:
    """What each level forbids of a pod, in words."""
    start = len(pod.path)
    return _fields(baseline_violations(pod), start), _fields(violations(pod), start)


def _fields(broken: Sequence[Violation], start: int) -> str:
    fields = [dotted(violation.path[start:]) for violation in broken]
    rest = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return f"{', '.join(fields[:_SHOWN])}{rest}"


def _check(pod: Brought, level: str, platform: Platform) -> list[ObjectFinding]:
    refused = _refused(pod, level, platform)
    stricter = level == "restricted" != platform.policy.pod_security_level
    if pod.excess and not (stricter and platform.policy.pod_security == "error" and refused):
        return [about(pod.owner, "SP614", each.path, each.message, each.hint) for each in pod.excess]
    return refused


def _refused(pod: Brought, level: str, platform: Platform) -> list[ObjectFinding]:
    """What the cluster would refuse: Pod Security admission knows levels, and no single grants."""
    policy = platform.policy.pod_security
    forbidden = {"baseline": pod.baseline, "restricted": pod.restricted}.get(level)
    if not forbidden or policy == "ignore":
        return []
    severity = Severity.ERROR if policy == "error" else Severity.WARNING
    message = f"The namespace enforces the level {level}, which forbids this: {forbidden}."
    return [about(pod.owner, "SP613", pod.path, message, _hint(pod.owner), severity=severity)]


def _hint(owner: Fact) -> str:
    """A TrainingJob has no templates, and no field for what its pods may do."""
    lower = "`namespaces.podSecurity` in the platform file"
    without_template = owner.spec is not None and owner.spec.kind == "TrainingJob"
    return f"Lower {lower}." if without_template else f"Change the template, or {lower}."
