"""What each storage driver declares of a Dataset: its block of `volume`."""

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from stowplan.schema.meta import Model


class VolumeBlock(Model):
    """The block of a driver in `volume` of a Dataset. It has a field `subPath`, the directory of the data."""

    PLACE: ClassVar[tuple[tuple[str, ...], ...]]
    """Its fields, as paths, that say where the data is stored: with other values it is another dataset."""

    if TYPE_CHECKING:
        # Subclasses declare it, each at its place among their fields.
        sub_path: str | None


class VolumeModel(NamedTuple):
    """The block of one driver: `VOLUME` of its module. `about` describes the field of the driver in `volume`."""

    block: type[VolumeBlock]
    about: str
