"""The dialect of the kind Dataset."""

from stowplan.library.dialects.dataset.lower import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.native.dataset import Dataset


def relations(model: Dataset, context: Context) -> Relations:  # noqa: ARG001 - as the interface has it
    """Return what the Dataset shares with other specs."""
    return Relations()


DIALECT = Dialect(lower, relations)
