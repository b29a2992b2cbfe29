"""Lowering of `DatasetTask`."""

from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.manifest import Unit
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.meta import SpecId

KIND = "DatasetTask"


def lower(model: DatasetTask, context: Context) -> Lowered:
    """Return all manifests of a DatasetTask (none if it has errors) and all findings."""
    spec = SpecId(KIND, context.namespace(model.metadata.namespace), model.metadata.name)
    return Lowered(Unit(spec, (custom_resource(model, context.origin(spec)),)))
