"""Does each pod that Stowplan writes pass the Pod Security level `restricted`?"""

from collections.abc import Iterable

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.checks.objects.pod_shapes import remembered
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.baseline_rules import BASELINE, BOTH_LEVELS
from stowplan.compiler.checks.pods.restricted_rules import LINUX_RULES, USER_RULES, VOLUME_RULES
from stowplan.compiler.checks.pods.violation import Rule, Violation
from stowplan.compiler.kubernetes.fields import mapping


def check(objects: Objects, *, allow_root: bool = False) -> list[ObjectFinding]:
    """Return findings for pods that Stowplan writes and that break the level `restricted`.

    With `allow_root`, the two rules about the user id are left out, for platforms whose `juicefs.taskUser` is 0.
    """
    return [
        about(obj, "SP605", violation.path, violation.message, violation.hint)
        for obj in objects.with_pods
        for pod in obj.authored_pods
        if pod.containers or pod.spec
        for violation in violations(pod, allow_root=allow_root)
    ]


def violations(pod: Pod, *, allow_root: bool = False) -> tuple[Violation, ...]:
    """Return all violations of the level `restricted`, which includes the rules of `baseline`.

    With `allow_root`, the two rules about the user id are left out.
    """
    return remembered(_restricted_for_root if allow_root else _restricted, pod)


def baseline_violations(pod: Pod) -> tuple[Violation, ...]:
    """Return all violations of the level `baseline`; empty for most pods."""
    return remembered(_baseline, pod)


def _restricted(pod: Pod) -> tuple[Violation, ...]:
    return _found((*BOTH_LEVELS, *VOLUME_RULES, *USER_RULES, *_linux_rules(pod)), pod)


def _restricted_for_root(pod: Pod) -> tuple[Violation, ...]:
    return _found((*BOTH_LEVELS, *VOLUME_RULES, *_linux_rules(pod)), pod)


def _baseline(pod: Pod) -> tuple[Violation, ...]:
    return _found(BASELINE, pod)


def _found(rules: Iterable[Rule], pod: Pod) -> tuple[Violation, ...]:
    return tuple(violation for rule in rules for violation in rule(pod))


def _linux_rules(pod: Pod) -> tuple[Rule, ...]:
    return () if mapping(pod.spec, "os").get("name") == "windows" else LINUX_RULES
