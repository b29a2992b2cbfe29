"""The pod of a DataCube: deadlines, amounts, user and groups."""

from collections.abc import Iterator

from stowplan.library.builders import transfer
from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.data_cube.rules import options_of
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training.label_form import label_findings
from stowplan.library.manifest import Json
from stowplan.library.values.quantities import larger, without_fractions
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataCube, Executor

Amounts = dict[str, Json]
"""Requests and limits of a container."""

_NOTHING = Executor()

FIRST_WAIT = 10
LONGEST_WAIT = 360
"""Seconds that the Job controller waits before a new attempt: the first time, and at most; each is twice the last."""

START = 3600
"""Seconds that all attempts together may wait for nodes, claims and images."""

UNLIMITED = 7 * 86400
"""Seconds for all attempts where none has a limit: a claim that is never bound must not wait for ever."""

LEAST_MEMORY = 128
"""MiB that an agent needs."""

_ROOT = 0
_NOT_OURS = frozenset({"appArmorProfile", "seLinuxOptions", "sysctls", "windowsOptions", "seLinuxChangePolicy"})


def executor_of(model: DataCube) -> Executor:
    """The executor; an empty one where there is none."""
    return model.spec.executor or _NOTHING


def needed(attempts: int, attempt_seconds: int) -> int:
    """Seconds that so many attempts and the waits between them take at most."""
    waits = sum(min(FIRST_WAIT << min(i, 10), LONGEST_WAIT) for i in range(min(attempts - 1, 10)))
    return attempts * attempt_seconds + waits + max(attempts - 11, 0) * LONGEST_WAIT


def total_deadline(model: DataCube) -> int:
    """Seconds for the whole Job."""
    options = options_of(model)
    if options.total_deadline_seconds is not None:
        return options.total_deadline_seconds
    if options.active_deadline_seconds is None:
        return UNLIMITED
    return needed((options.backoff_limit or 0) + 1, options.active_deadline_seconds) + START


def resources(model: DataCube, context: Context) -> Amounts:
    """Requests and limits: the user's, and the platform's for what is missing, none larger than its limit."""
    given = executor_of(model).resources or {}
    platform = agent_pod.amounts(context.platform.resources.task)
    own_limits, own_requests = given.get("limits") or {}, given.get("requests") or {}
    limits = {**platform["limits"], **own_limits}
    for name, request in own_requests.items():
        if name not in own_limits and (name not in limits or larger(request, limits[name])):
            limits[name] = request
    requests = {**platform["requests"], **own_requests}
    for name, limit in limits.items():
        if name not in own_requests and larger(requests.get(name), limit):
            requests[name] = limit
    return {"limits": without_fractions(limits), "requests": without_fractions(requests)}


def findings(model: DataCube, amounts: Amounts) -> list[Finding]:
    """What is wrong with deadlines, amounts, user, groups and labels of nodes. `amounts` are those of `resources`."""
    executor = executor_of(model)
    return [
        *_deadlines(model),
        *_amounts(model, amounts),
        *_rights(executor.security_context or {}),
        *label_findings(executor.node_selector or {}, ("spec", "executor", "nodeSelector")),
    ]


def defaults(model: DataCube) -> list[Finding]:
    """What the old system did otherwise where nothing is said."""
    options = options_of(model)
    if options.active_deadline_seconds is not None or options.total_deadline_seconds is not None:
        return []
    message = f"Without a deadline the transfer is given up after {UNLIMITED // 86400} days; the old one never was."
    hint = "Set `executor.options.totalDeadlineSeconds` to choose."
    return [finding("SP411", ("spec", "executor"), message, hint)]


def _deadlines(model: DataCube) -> Iterator[Finding]:
    options = options_of(model)
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


def _amounts(model: DataCube, amounts: Amounts) -> Iterator[Finding]:
    given = executor_of(model).resources or {}
    base: FieldPath = ("spec", "executor", "resources")
    limits = given.get("limits") or {}
    for name, request in (given.get("requests") or {}).items():
        if larger(request, limits.get(name)):
            message = f"The request of {name} is {request}, more than its limit, {limits[name]}."
            yield finding("SP205", (*base, "requests", name), message, "Lower it, or raise the limit.")
    if given.get("claims"):
        message = "An agent uses no devices."
        yield finding("SP445", (*base, "claims"), message, "Remove it.")
    least = transfer.memory(amounts["limits"])
    if least < LEAST_MEMORY:
        message = f"The memory limit is {least} MiB; an agent needs at least {LEAST_MEMORY}."
        path = (*base, "limits", "memory") if "memory" in limits else (*base, "requests", "memory")
        yield finding("SP205", path, message, "Raise it; `1Gi` serves most transfers.")


def _rights(security: Json) -> Iterator[Finding]:
    """What Pod Security `restricted` does not let a pod have."""
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
