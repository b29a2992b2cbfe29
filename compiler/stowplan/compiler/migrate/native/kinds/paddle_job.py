"""From PaddleJob to Training, for jobs of workers alone."""

from collections.abc import Iterator

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.kinds import template
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Step, Write, moves, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.dialects.paddle_job import rules
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.meta import SpecId

_DATASET: tuple[Step, ...] = (
    *moves(
        ("spec.sampleSetRef.name", "spec.datasets.0.name"),
        ("spec.sampleSetRef.mountPath", "spec.datasets.0.mountPath"),
    ),
    Write(path("spec.datasets.0.readOnly"), value=False),
    Move(path("spec.sampleSetRef.wait"), path("spec.datasets.0.wait")),
)
_WITHOUT_EFFECT = (
    Omit(path("spec.cleanPodPolicy"), "pods stay as long as their Job"),
    Omit(path("spec.withGloo"), "only jobs with parameter servers use it"),
    Omit(path("spec.worker.requests"), "it has no effect"),
    Omit(path("spec.worker.limits"), "it has no effect"),
)
_REASONS = (
    (path("spec.ps"), "a Training has no parameter servers"),
    (path("spec.heter"), "a Training has no heterogeneous workers"),
    (path("spec.elastic"), "an elastic PaddleJob may grow without a limit, and a Training has one, `elastic.max`"),
    (path("spec.schedulingPolicy.minAvailable"), "all pods of a Training start together"),
    (path("spec.schedulingPolicy.minResources"), "all pods of a Training start together"),
    (path("spec.intranet"), "the network of the nodes is a profile of the platform file"),
)
_RESERVED = frozenset(
    "PADDLE_CURRENT_ENDPOINT PADDLE_ELASTIC_TIMEOUT PADDLE_JOB_ID PADDLE_MASTER PADDLE_NNODES PADDLE_NPROC_PER_NODE "
    "PADDLE_POD_INDEX PADDLE_PORT PADDLE_RANK PADDLE_TRAINERS PADDLE_TRAINERS_NUM PADDLE_TRAINER_ENDPOINTS "
    "PADDLE_TRAINER_ID PADDLE_TRAINING_ROLE POD_IP TRAINER_PORTS_NUM TRAINING_ROLE".split()
)
"""The variables that a Training of Paddle sets, by which its workers find each other."""

_WORKER = path("spec.worker.template")


def plan(model: PaddleJob, spec: Spec, scope: Scope) -> MigrationPlan:
    """Return the plan for the PaddleJob `spec`, whose model is `model`; in `scope` is what it refers to."""
    job, worker = model.spec, model.spec.worker
    reference = job.sample_set_ref
    needs = SpecId("SampleSet", spec.id.namespace, reference.name) if reference and reference.name else None
    alone = bool(worker and worker.replicas > 0)
    steps = list(_steps(spec, model, scope)) if alone else []
    return MigrationPlan(
        "Training",
        tuple(steps),
        reasons=_REASONS,
        refused=tuple(_refused(model)),
        needs=(needs, path("spec.sampleSetRef.name")) if needs else None,
        change=f"The job is a new run, which trains again. {template.CHANGE}",
    )


def _steps(spec: Spec, model: PaddleJob, scope: Scope) -> Iterator[Step]:
    job = model.spec
    given = job.worker.template if job.worker else None
    for role in ("ps", "heter"):
        if (found := getattr(job, role)) and found.replicas == 0:
            yield Omit(path(f"spec.{role}"), "it has no pods")
    yield Write(path("spec.framework"), "paddle")
    yield from template.trainer(_WORKER, 0, path("spec.worker.replicas"))
    if job.sample_set_ref:
        if job.sample_set_ref.namespace == spec.id.namespace:
            yield Omit(path("spec.sampleSetRef.namespace"))
        yield from _DATASET
    yield from _scheduling(model, scope)
    yield from template.rest(given, _WORKER, 0)
    again = tuple(template.restart(model.metadata))
    yield from again
    restart = rules.restart(model, "worker")
    if not again and restart == "OnFailure" and value_at(given, path("spec.restartPolicy")) != restart:
        yield Write(path("spec.template.spec.restartPolicy"), restart)
    yield from _WITHOUT_EFFECT
    if job.intranet != "Host":
        yield Omit(path("spec.intranet"), "pods reach each other by DNS names")


def _scheduling(model: PaddleJob, scope: Scope) -> Iterator[Step]:
    """Yield the steps for `schedulingPolicy`, which only acts where the platform has a gang engine."""
    policy, gang = model.spec.scheduling_policy, scope.platform.engines.gang
    if policy is None:
        return
    if gang == "none":
        yield Omit(path("spec.schedulingPolicy"), "the platform has no gang engine")
        return
    if policy.min_available == (model.spec.worker and model.spec.worker.replicas):
        yield Omit(path("spec.schedulingPolicy.minAvailable"), "it is the number of all pods")
    if gang == "coscheduling":
        yield Omit(path("spec.schedulingPolicy.queue"), "coscheduling has no queues")
    yield Move(path("spec.schedulingPolicy.queue"), path("spec.scheduling.queue"))
    priority = path("spec.template.spec.priorityClassName" if gang == "kueue" else "spec.scheduling.priority")
    yield Move(path("spec.schedulingPolicy.priorityClass"), priority)


def _refused(model: PaddleJob) -> Iterator[Finding]:
    job, worker = model.spec, model.spec.worker
    hint = "Leave the job as it is."
    others = [role for role in ("ps", "heter") if (found := getattr(job, role)) and found.replicas > 0]
    for role in others:
        message = "A Training has workers alone, no parameter servers and no heterogeneous workers."
        yield finding("SP427", ("spec", role), message, hint)
    if worker and worker.replicas > 0 and value_at(worker.template, path("spec.containers")):
        yield from template.refused(worker.template, _WORKER, 0, _RESERVED)
    elif not others:
        yield finding("SP427", ("spec", "worker"), "The job has no workers.", hint)
