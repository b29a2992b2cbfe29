"""Will the namespaces of the output admit the pods that users described?"""

from collections.abc import Callable, Mapping

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.checks.pod_security import Violation, baseline_violations, violations
from stowplan.compiler.checks.pods import Pod
from stowplan.compiler.manifest_fields import mapping
from stowplan.schema.diagnostics import Severity, dotted

_ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS: Mapping[str, Callable[[Pod], list[Violation]]] = {"baseline": baseline_violations, "restricted": violations}
_SHOWN = 3
"""Fields that a message names."""


def check(objects: Objects, severity: Severity) -> list[ObjectFinding]:
    """Templates of training jobs against the level that their namespace enforces, where the output has the namespace.

    Templates pass through unchanged, so it is for the user or the platform to make both fit. One finding for each pod
    template names the first fields.
    """
    levels = {
        obj.id.name: mapping(obj.body, "metadata", "labels").get(_ENFORCE) for obj in objects.of_kind("Namespace")
    }
    return [found for obj in objects for pod in obj.brought_pods for found in _check(obj, pod, levels, severity)]


def _check(obj: Object, pod: Pod, levels: Mapping[str, str | None], severity: Severity) -> list[ObjectFinding]:
    level = levels.get(obj.id.namespace)
    rules = _LEVELS.get(level or "")
    broken = rules(pod) if rules else []
    if not broken:
        return []
    fields = [dotted(violation.path[len(pod.path) :]) for violation in broken]
    rest = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    message = f"The namespace enforces the level {level}, which forbids this: {', '.join(fields[:_SHOWN])}{rest}."
    return [about(obj, "SP613", pod.spec_path, message, _hint(obj), severity=severity)]


def _hint(obj: Object) -> str:
    """A TrainingJob has no templates, and no field for what its pods may do."""
    lower = "`namespaces.podSecurity` in the platform file"
    without_template = obj.output.spec is not None and obj.output.spec.kind == "TrainingJob"
    return f"Lower {lower}." if without_template else f"Change the template, or {lower}."
