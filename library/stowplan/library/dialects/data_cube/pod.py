"""Rules of a DataCube's pod: deadlines, user, groups and node selector."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.shared import task_resources
from stowplan.library.dialects.training_group.label_form import label_findings
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding

FIRST_WAIT = 10
LONGEST_WAIT = 600
"""Seconds that the Job controller waits before a new attempt: first and longest wait. Each wait is twice the last.

`DefaultJobPodFailureBackOff` and `MaxJobPodFailureBackOff` of `pkg/controller/job/job_controller.go` in Kubernetes.
"""

START = 3600
"""Seconds that all attempts together may wait for cluster nodes, claims and images."""

UNLIMITED = 7 * 86400
"""Seconds for all attempts of a cube without a deadline: a pod whose claim is never bound must not wait for ever."""

_ROOT = 0
_NOT_OURS = frozenset({"appArmorProfile", "seLinuxOptions", "sysctls", "windowsOptions", "seLinuxChangePolicy"})


def needed(attempts: int, attempt_seconds: int) -> int:
    """Return the most seconds that `attempts` attempts of `attempt_seconds` each, and the waits between them, take."""
    waits = sum(min(FIRST_WAIT << min(i, 10), LONGEST_WAIT) for i in range(min(attempts - 1, 10)))
    return attempts * attempt_seconds + waits + max(attempts - 11, 0) * LONGEST_WAIT


def total_deadline(cube: Cube) -> int:
    """Return the deadline of the whole Job in seconds: the user's, else one that suffices for all attempts."""
    options = cube.given
    if options.total_deadline_seconds is not None:
        return options.total_deadline_seconds
    if options.active_deadline_seconds is None:
        return UNLIMITED
    return needed((options.backoff_limit or 0) + 1, options.active_deadline_seconds) + START


def findings(cube: Cube) -> list[Finding]:
    """Return findings about deadlines, resources, user, groups and node selector."""
    executor = cube.executor
    return [
        *_deadlines(cube),
        *task_resources.findings(executor.resources or {}, cube.resources, ("spec", "executor", "resources")),
        *_rights(executor.security_context or {}),
        *label_findings(executor.node_selector or {}, ("spec", "executor", "nodeSelector")),
    ]


def defaults(cube: Cube) -> list[Finding]:
    """Return a finding if the cube has the default deadline, which the old system did not have."""
    options = cube.given
    if options.active_deadline_seconds is not None or options.total_deadline_seconds is not None:
        return []
    message = f"Without a deadline the transfer is given up after {UNLIMITED // 86400} days."
    hint = "Set `executor.options.totalDeadlineSeconds` to choose."
    return [finding("SP411", ("spec", "executor"), message, hint)]


def _deadlines(cube: Cube) -> Iterator[Finding]:
    options = cube.given
    base: FieldPath = ("spec", "executor", "options")
    attempt, total = options.active_deadline_seconds, options.total_deadline_seconds
    if attempt is None or total is None:
        return
    attempts = (options.backoff_limit or 0) + 1
    if total < needed(attempts, attempt):
        message = (
            f"{attempts} attempts of {attempt} s and the waits between them take up to {needed(attempts, attempt)} s."
        )
        hint = (
            f"Give at least {needed(attempts, attempt) + START}, which leaves an hour for waiting, or fewer attempts."
        )
        yield finding("SP498", (*base, "totalDeadlineSeconds"), message, hint)


def _rights(security: Json) -> Iterator[Finding]:
    """Yield findings about fields of `securityContext` that Pod Security `restricted` refuses."""
    base: FieldPath = ("spec", "executor", "securityContext")
    hint = "Remove it. Files of other users are reached by `fsGroup` or `supplementalGroups`."
    for key in sorted(_NOT_OURS & security.keys()):
        yield finding("SP620", (*base, key), f"`{key}` is not for a pod that only copies files.", "Remove it.")
    if security.get("runAsUser") == _ROOT:
        yield finding("SP620", (*base, "runAsUser"), "A transfer does not run as root.", hint)
    if security.get("runAsNonRoot") is False:
        yield finding("SP620", (*base, "runAsNonRoot"), "A transfer does not run as root.", hint)
    profile = (security.get("seccompProfile") or {}).get("type")
    if profile == "Unconfined":
        message = "A pod without a seccomp profile may make any system call."
        yield finding("SP620", (*base, "seccompProfile"), message, "Remove it.")
