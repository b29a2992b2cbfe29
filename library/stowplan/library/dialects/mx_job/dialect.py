"""The dialect of the kind MxJob."""

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.mx_job import rules
from stowplan.library.dialects.mx_job.lower import lower
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.mx_job import MxJob


def relations(model: MxJob, context: Context) -> Relations:
    """Return the claims in the roles' pod templates, and what the job runs after."""
    mounted: list[mounted_claims.MountedClaim] = []
    for index, entry in enumerate(model.spec.replica_specs or ()):
        pods = 1 if entry.replicas is None else entry.replicas
        path: FieldPath = ("spec", "replicaSpecs", index, "template")
        mounted += mounted_claims.of_template(entry.template, pods, rules.role_of(entry), path)
    after = run_order.of_model(model, context.namespace(model.metadata.namespace))
    return Relations(mounted=tuple(mounted), after=after)


DIALECT = Dialect(lower, relations, rules.findings)
