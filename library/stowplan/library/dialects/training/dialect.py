"""The dialect of the kind Training."""

from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.library.dialects.training.lower import lower
from stowplan.schema.kinds.native.training import Training


def relations(model: Training, context: Context) -> Relations:  # noqa: ARG001 - as the interface has it
    """Return what the Training shares with other specs."""
    return Relations()


DIALECT = Dialect(lower, relations)
