"""Will the namespaces of the output admit the pods that users described?"""

from collections.abc import Iterator, Sequence

from stowplan.compiler.checks.facts import Brought, Fact
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object
from stowplan.compiler.checks.pod_security import Violation, baseline_violations, violations
from stowplan.compiler.checks.pod_shapes import remembered
from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.checks.world import World
from stowplan.schema.diagnostics import Severity, dotted

_ENFORCE = "pod-security.kubernetes.io/enforce"
_SHOWN = 3
"""Fields that a message names."""


def check(world: World, severity: Severity) -> list[ObjectFinding]:
    """Templates of training jobs against the level that their namespace enforces, where the output has the namespace.

    Templates pass through unchanged, so it is for the user or the platform to make both fit. One finding for each pod
    template names the first fields.
    """
    levels = dict(level for part in world.parts for level in part.levels)
    brought = (pod for part in world.parts for pod in part.brought) if levels else ()
    return [found for pod in brought for found in _check(pod, levels.get(pod.owner.id.namespace, ""), severity)]


def brought_by(owner: Fact, obj: Object) -> Iterator[Brought]:
    """The pods that a user described in a training job, where a level forbids something of them."""
    for pod in obj.brought_pods:
        baseline, restricted = remembered(_forbidden, pod)
        if baseline or restricted:
            yield Brought(owner, pod.spec_path, baseline, restricted)


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


def _check(pod: Brought, level: str, severity: Severity) -> list[ObjectFinding]:
    forbidden = {"baseline": pod.baseline, "restricted": pod.restricted}.get(level)
    if not forbidden:
        return []
    message = f"The namespace enforces the level {level}, which forbids this: {forbidden}."
    return [about(pod.owner, "SP613", pod.path, message, _hint(pod.owner), severity=severity)]


def _hint(owner: Fact) -> str:
    """A TrainingJob has no templates, and no field for what its pods may do."""
    lower = "`namespaces.podSecurity` in the platform file"
    without_template = owner.spec is not None and owner.spec.kind == "TrainingJob"
    return f"Lower {lower}." if without_template else f"Change the template, or {lower}."
