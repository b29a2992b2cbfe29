"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.dataset.reference import name_of
from stowplan.library.dialects.dataset.sample_job import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.sample_job import SampleJob


def relations(model: SampleJob, context: Context) -> Relations:  # noqa: ARG001 - as the interface has it
    """The dataset that the task works on."""
    return Relations(reference=name_of(model.spec.sample_set_ref))


DIALECT = Dialect(lower, relations)
