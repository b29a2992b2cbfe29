"""From TrainingJob to Training: none of them can be kept."""

from stowplan.compiler.migrate.native.plan import MigrationPlan, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.dialects.training_job.topology import topology
from stowplan.schema.diagnostics import finding
from stowplan.schema.kinds.training_job import TrainingJob

_VARIABLES = "Its program reads variables such as PADDLE_INIT_PSERVERS, which no framework of a Training sets."


def plan(model: TrainingJob, spec: Spec, scope: Scope) -> MigrationPlan:  # noqa: ARG001 - as the interface has it
    """Return a plan with the reason why a TrainingJob stays what it is."""
    at, message = path("spec.trainer"), _VARIABLES
    if model.spec.fault_tolerant:
        at, message = path("spec.fault_tolerant"), "A Training has no master that deals out tasks."
    elif topology(model.spec) == "ps":
        at, message = path("spec.pserver"), "A Training has no parameter servers."
    return MigrationPlan("Training", (), refused=(finding("SP427", at, message, "Leave the job as it is."),))
