"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.sample_set.reference import name_of
from stowplan.library.dialects.sample_set.sample_job import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.sample_job import SampleJob


def relations(model: SampleJob, context: Context) -> Relations:  # noqa: ARG001 - as the interface has it
    """Return the name of the dataset that the task works on, as the only relation to other specs."""
    return Relations(reference=name_of(model.spec.sample_set_ref))


DIALECT = Dialect(lower, relations)
