"""The dialect of the kind DatasetTask."""

from stowplan.library.dialects.dataset_task.lower import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.native.dataset_task import DatasetTask


def relations(model: DatasetTask, context: Context) -> Relations:  # noqa: ARG001 - as the interface has it
    """Return what the DatasetTask shares with other specs."""
    return Relations()


DIALECT = Dialect(lower, relations)
