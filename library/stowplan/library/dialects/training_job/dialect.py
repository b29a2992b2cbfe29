"""The dialect of the kind TrainingJob."""

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.reading.api import Reading
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Pods, Relations
from stowplan.library.dialects.training_job import fields, rules
from stowplan.library.dialects.training_job.etcd import ETCD
from stowplan.library.dialects.training_job.lower import lower
from stowplan.library.dialects.training_job.topology import shape
from stowplan.schema.kinds.training_job import TrainingJob


def relations(model: TrainingJob, context: Context) -> Relations:
    """Return the claims that all pods of the job mount."""
    layout = shape(model, context.platform)
    pods = int(layout.master) + layout.servers + layout.trainers
    volumes = model.spec.volumes or ()
    mounted = tuple(mounted_claims.of_volumes(volumes, pods, "the job", ("spec", "volumes")))
    return Relations(mounted=mounted)


_PODS = Pods(containers=(ETCD,), templates=False)

DIALECT = Dialect(lower, relations, rules.findings, Reading(field=fields.of_pod), pods=_PODS)
