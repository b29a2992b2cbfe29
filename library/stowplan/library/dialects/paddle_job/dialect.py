"""The dialect of the kind PaddleJob."""

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.paddle_job import rules
from stowplan.library.dialects.paddle_job.lower import lower, ports_of
from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.paddle_job import ROLES, PaddleJob, PaddleRole


def relations(model: PaddleJob, context: Context) -> Relations:
    """Return what the job shares with other specs: dataset, host ports, claims, and what it runs after."""
    pods = 0
    mounted: list[mounted_claims.MountedClaim] = []
    for name in ROLES:
        role: PaddleRole | None = getattr(model.spec, name)
        if role:
            pods += max(role.replicas, 0)
            mounted += mounted_claims.of_template(role.template, role.replicas, name, ("spec", name, "template"))
    namespace = context.namespace(model.metadata.namespace)
    named = references(model.spec.sample_set_ref, namespace)
    after = run_order.of_model(model, namespace)
    return Relations(named, pods, _ports(model, context), tuple(mounted), after=after)


def _ports(model: PaddleJob, context: Context) -> tuple[int, int] | None:
    if model.spec.intranet != "Host":
        return None
    taken = [block for block in ports_of(model, context)[0].values() if block]
    return (taken[0].start, taken[-1].stop) if taken else None


DIALECT = Dialect(lower, relations, rules.findings)
