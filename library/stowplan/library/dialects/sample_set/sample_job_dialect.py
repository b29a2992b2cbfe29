"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.sample_set.sample_job import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.sample_job import SampleJob


def relations(model: SampleJob, context: Context) -> Relations:
    """Return the dataset that the task works on, as the only relation to other specs."""
    return Relations(references(model.spec.sample_set_ref, context.namespace(model.metadata.namespace)))


DIALECT = Dialect(lower, relations)
