"""The dialect of the kind DataCube."""

from stowplan.library.dialects.data_cube import writes
from stowplan.library.dialects.data_cube.lower import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Relations
from stowplan.schema.kinds.data_cube import DataCube


def relations(model: DataCube, context: Context) -> Relations:
    """The directory that the cube writes to."""
    return Relations(write=writes.of_model(model, context.namespace(model.metadata.namespace)))


DIALECT = Dialect(lower, relations)
