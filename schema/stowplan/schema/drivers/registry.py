"""The blocks of all storage drivers, and what is made of them."""

from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import Field, create_model

from stowplan.schema.drivers.table import DRIVERS
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.meta import Model

VOLUMES: dict[str, type[VolumeBlock]] = {
    name: import_module(f"stowplan.schema.drivers.{name}").VOLUME for name in DRIVERS
}
"""The blocks by the name of the driver."""

if TYPE_CHECKING:
    # Type checkers cannot follow types that are made at run time.
    VolumeBlocks = Model
else:
    VolumeBlocks = create_model(
        "VolumeBlocks",
        __base__=Model,
        __doc__="An optional field for each driver.",
        **{
            DRIVERS[name].field: (each | None, Field(default=None, description=each.ABOUT))
            for name, each in VOLUMES.items()
        },
    )
