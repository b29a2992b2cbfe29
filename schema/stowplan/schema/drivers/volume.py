"""What each storage driver declares of a Dataset: its block of `volume`."""

from typing import TYPE_CHECKING, ClassVar

from stowplan.schema.meta import Model


class VolumeBlock(Model):
    """The block of a driver in `volume` of a Dataset, which the driver's module has as `VOLUME`.

    An example is `stowplan.schema.drivers.toy`::

        '''Toy volumes of a Dataset.'''

        from typing import ClassVar

        from pydantic import Field

        from stowplan.schema.drivers.volume import VolumeBlock


        class ToyVolume(VolumeBlock):
            '''A shelf of toys.'''

            ABOUT: ClassVar[str] = "A shelf of toys."
            PLACE: ClassVar[tuple[tuple[str, ...], ...]] = (("shelf",), ("subPath",))

            shelf: str = Field(description="Name of the shelf.", max_length=64)
            sub_path: str | None = Field(default=None, description="Directory of the data.", max_length=64)


        VOLUME = ToyVolume

    Each has a field `subPath`, the directory of the data.
    """

    ABOUT: ClassVar[str]
    """The description of the field of the driver in `volume`."""

    PLACE: ClassVar[tuple[tuple[str, ...], ...]]
    """Its fields, as paths, that say where the data is stored: with other values it is another dataset."""

    if TYPE_CHECKING:
        # Subclasses declare it, each at its place among their fields.
        sub_path: str | None
