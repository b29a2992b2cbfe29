"""From MxJob to Training, for local jobs."""

from collections.abc import Iterator

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.kinds import template
from stowplan.compiler.migrate.native.plan import MigrationPlan, Omit, Step, Write, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.dialects.mx_job import rules
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.mx_job import MxJob

_ENTRY = path("spec.replicaSpecs.0")
_TEMPLATE = (*_ENTRY, "template")
_CHANGE = "The job is a new run, which trains again. A pod that a signal ended is not started again."


def plan(model: MxJob, spec: Spec, scope: Scope) -> MigrationPlan:  # noqa: ARG001 - as the interface has it
    """Return the plan for an MxJob: `framework: none` for a local one, which has no variables of MXNet."""
    refused = list(_refused(model, scope))
    return MigrationPlan(
        "Training",
        () if refused else tuple(_steps(model)),
        refused=tuple(refused),
        change=f"{_CHANGE} {template.CHANGE}",
    )


def _steps(model: MxJob) -> Iterator[Step]:
    given = (model.spec.replica_specs or [])[0].template or {}
    index = rules.container_index(given)
    yield Write(path("spec.framework"), "none")
    yield Omit(path("spec.jobMode"))
    yield from template.trainer(_TEMPLATE, index, (*_ENTRY, "replicas"))
    yield Omit((*_ENTRY, "mxReplicaType"))
    yield Omit((*_ENTRY, "PsRootPort"), "a local job has no scheduler")
    yield Omit((*_TEMPLATE, "spec", "restartPolicy"), "pods of an MxJob are never restarted in place")
    yield from template.restart(model.metadata)
    yield from template.rest(given, _TEMPLATE, index)
    if model.spec.runtime_id is not None:
        yield Write(path("spec.template.metadata.labels.runtime_id"), model.spec.runtime_id, path("spec.RuntimeId"))


def _refused(model: MxJob, scope: Scope) -> Iterator[Finding]:
    entries, hint = model.spec.replica_specs or [], "Leave the job as it is."
    if model.spec.job_mode != rules.LOCAL:
        message = "The processes of a distributed MxJob meet at a scheduler of MXNet, which a Training does not have."
        yield finding("SP427", path("spec.jobMode"), message, hint)
        return
    if (
        len(entries) != 1
        or not value_at(entries[0].template, path("spec.containers"))
        or (entries[0].replicas or 1) != 1
    ):
        yield finding("SP427", path("spec.replicaSpecs"), "A local job has one worker.", hint)
        return
    given = entries[0].template or {}
    index = rules.container_index(given)
    yield from template.refused(given, _TEMPLATE, index, frozenset())
    limits = value_at(given, ("spec", "containers", index, "resources", "limits")) or {}
    for device in sorted(scope.platform.accelerators.keys() & limits.keys()):
        message = f"Pods with {device} get volumes and variables from `accelerators` of the platform file."
        at = (*_TEMPLATE, "spec", "containers", index, "resources", "limits", device)
        yield finding("SP427", at, message, "Leave the job as it is: a Training takes them from a profile.")
