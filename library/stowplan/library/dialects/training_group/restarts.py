"""Restarts of whole training jobs: the annotation that asks for them, and rules for every kind."""

import re
from collections.abc import Iterator

from stowplan.library.dialects.shared.context import Context
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.frameworks.neutral import ATTEMPT
from stowplan.library.frameworks.variables import field_variable
from stowplan.library.ir.restart import Restart, all_but
from stowplan.library.ir.training import Environment, Environments, TrainingGroup
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.meta import RESTARTS_ANNOTATION, ObjectMeta

ANNOTATION: FieldPath = ("metadata", "annotations", RESTARTS_ANNOTATION)

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def annotated(metadata: ObjectMeta) -> Restart | None:
    """Return what the annotation of a job asks for; None without it, or if its value is no number.

    Exit codes with which a program ends by itself end the job, as in a Training of Paddle.
    """
    given = metadata.annotations.get(RESTARTS_ANNOTATION, "")
    return Restart(int(given), all_but(())) if _NUMBER.fullmatch(given) else None


def form(metadata: ObjectMeta) -> Iterator[Finding]:
    """Yield a finding about an annotation whose value is no number."""
    given = metadata.annotations.get(RESTARTS_ANNOTATION)
    if given is not None and not _NUMBER.fullmatch(given):
        message = f'"{given}" is no number of restarts.'
        yield finding("SP206", ANNOTATION, message, 'Give a whole number in quotes, such as "3".')


def findings(
    group: TrainingGroup,
    context: Context,
    *,
    path: FieldPath = ANNOTATION,
    limit: str | None = None,
    queued: bool = False,
) -> list[Finding]:
    """Return the findings about a job that starts again; an empty list for others.

    `path` is where the spec asks for it. `limit` is the field of the spec for a limit of time; None if the kind has
    none. `queued` says whether a queue such as Kueue gets this limit too, which counts it for all attempts together.
    """
    if group.restart is None:
        return []
    if JOB_ENGINES[context.platform.engines.jobs].attempts is None:
        return [_no_engine(context.platform.engines.jobs, path)]
    if alone := list(_alone(group, path)):
        return alone
    return [*_unseen(context, path), *_policy(group, path), *_endless(group, context, path, limit, queued=queued)]


def counted(environments: Environments, group: TrainingGroup, context: Context) -> Environments:
    """Return the variables of a job with `STOWPLAN_ATTEMPT` if it starts again; those of a Training have it already."""
    label = JOB_ENGINES[context.platform.engines.jobs].attempts
    if group.restart is None or label is None:
        return environments
    attempt = field_variable(ATTEMPT, f"metadata.labels['{label}']")
    return {
        role: own if attempt in own.fixed else Environment((*own.fixed, attempt), own.defaults)
        for role, own in environments.items()
    }


def _no_engine(jobs: str, path: FieldPath) -> Finding:
    able = " or ".join(f"`engines.jobs: {name}`" for name, engine in sorted(JOB_ENGINES.items()) if engine.attempts)
    message = f"`engines.jobs: {jobs}` cannot start a whole job again, since it does not restart Jobs that failed."
    hint = f"Set {able} in the platform file, which needs JobSet in the cluster, or remove this."
    return finding("SP467", path, message, hint, anchor=Anchor.KEY)


def _alone(group: TrainingGroup, path: FieldPath) -> Iterator[Finding]:
    if group.elastic or (group.size > 1 and group.framework.readmits(group)):
        message = "A pod of this job that fails is replaced while the others go on, so the job does not start again."
        hint = "Remove this, or let the job be neither elastic nor fault-tolerant."
        yield finding("SP714", path, message, hint, anchor=Anchor.KEY)


def _unseen(context: Context, path: FieldPath) -> Iterator[Finding]:
    if not context.platform.reporter:
        message = "Nobody would see how often the job starts again: `reporter` is false in the platform file."
        yield finding("SP715", path, message, "Remove `reporter: false`, or this.", anchor=Anchor.KEY)


def _policy(group: TrainingGroup, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding about the first role whose template asks for restarts in its pods."""
    for role in group.roles:
        given = role.template["spec"].get("restartPolicy")
        if role.restart == "OnFailure" and given:
            message = (
                f"The restart policy {given} of the template has no effect: any failed pod restarts the whole job."
            )
            yield without_effect(path, message, "Write `restartPolicy: Never`, or remove it.")
            return


def _endless(
    group: TrainingGroup, context: Context, path: FieldPath, limit: str | None, *, queued: bool
) -> Iterator[Finding]:
    together = queued and GANG_ENGINES[context.platform.engines.gang].suspends
    if not any(role.deadline for role in group.deciders):
        message = (
            "Lost nodes and preemptions do not count as restarts, so nothing ends a job that they hit again and again."
        )
        hint = "Watch the job: this kind has no limit of time. A Training has one (`stowplan migrate --to native`)."
        if limit:
            span = "all attempts together" if together else "each attempt"
            hint = f"Set `{limit}`, which counts for {span}, and watch `restarts` in the status."
        yield finding("SP712", path, message, hint, anchor=Anchor.KEY)
    elif not together:
        message = f"JobSet counts `{limit}` for each attempt anew, and one that reaches it is the last."
        hint = "All attempts together may take longer"
        hint += "; with `engines.gang: kueue` the limit holds for them together." if queued else "."
        yield finding("SP713", path, message, hint, anchor=Anchor.KEY)
