"""The dialect of the kind SampleJob."""

from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.sample_set.sample_job import lower
from stowplan.library.dialects.shared import claim_paths, run_order
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Deletion, Dialect, Relations
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
        deletes=_deletes(model),
    )


def _deletes(model: SampleJob) -> Deletion | None:
    options = model.spec.sync_options
    if model.spec.type != "sync" or options is None or not options.delete_dst:
        return None
    return Deletion(claim_paths.canonical(options.destination or ""), ("spec", "syncOptions", "delete-dst"))


DIALECT = Dialect(lower, relations)
