"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.sample_set.sample_job import lower
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.sample_job import SampleJob


def relations(model: SampleJob, context: Context) -> Relations:
    """Return the dataset that the task works on, and what it runs after."""
    namespace = context.namespace(model.metadata.namespace)
    repeats = model.spec.schedule is not None
    return Relations(
        references(model.spec.sample_set_ref, namespace),
        after=run_order.of_annotation(model.metadata.annotations, namespace),
        operation="" if repeats or model.spec.terminate else model.spec.type or "",
        repeats=repeats,
    )


DIALECT = Dialect(lower, relations)
