"""The table of storage drivers.

Each layer has a module or package with the driver's name: `schema.drivers` the model of its block of a Dataset,
`library.drivers` its objects, `library.dialects.dataset.volumes` its rules for a Dataset, and, if it is cached,
`agents.cache.drivers` its programs.
"""

from typing import TYPE_CHECKING, Literal, NamedTuple


class Driver(NamedTuple):
    """One storage driver.

    `name` is its name in `csi.driver` of a SampleSet, and `field` the one in `volume` of a Dataset. `cached` says
    whether cluster nodes cache its datasets: these have cache pods, which measure the dataset.
    """

    name: str
    field: str
    cached: bool = False


_ROWS = (
    Driver("juicefs", field="juicefs", cached=True),
    Driver("pvc", field="claim"),
)

DRIVERS = {driver.name: driver for driver in _ROWS}
"""The drivers by name."""

DEFAULT_DRIVER = "juicefs"
"""Driver of a SampleSet, or of a configuration of the cache agent, that names none."""

if TYPE_CHECKING:
    DriverName = str
else:
    DriverName = Literal[tuple(DRIVERS)]
"""The name of a driver, as a field of a model. Type checkers cannot follow a type that is made at run time."""
