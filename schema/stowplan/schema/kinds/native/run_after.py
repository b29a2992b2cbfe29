"""An entry of the field `runAfter`, which kinds have in place of the annotation."""

from pydantic import Field

from stowplan.schema.kinds.table import KindName
from stowplan.schema.meta import Model


class RunAfter(Model):
    """A spec of the same namespace that must be done first."""

    kind: KindName = Field(description="Kind of the spec.")
    name: str = Field(description="Name of the spec.", min_length=1, max_length=253)
