"""The dialect of the kind DatasetTask."""

from stowplan.library.dialects.dataset_task.lower import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Reference, Relations
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.meta import SpecId


def relations(model: DatasetTask, context: Context) -> Relations:
    """Return the dataset that the task works on, as the only relation to other specs."""
    spec = SpecId("Dataset", context.namespace(model.metadata.namespace), model.spec.dataset_ref.name)
    return Relations((Reference(spec, ("spec", "datasetRef", "name")),))


DIALECT = Dialect(lower, relations)
