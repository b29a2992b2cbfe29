"""The dialect of the kind Training."""

from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Reference, Relations
from stowplan.library.dialects.training.lower import lower
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import SpecId


def relations(model: Training, context: Context) -> Relations:
    """Return the datasets that the job mounts, and the number of its pods."""
    home = context.namespace(model.metadata.namespace)
    named = tuple(
        Reference(SpecId("Dataset", home, each.name), ("spec", "datasets", index, "name"))
        for index, each in enumerate(model.spec.datasets or ())
    )
    return Relations(named, pods=model.spec.num_nodes)


DIALECT = Dialect(lower, relations)
