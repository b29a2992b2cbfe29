"""JuiceFS volumes of a Dataset."""

from typing import ClassVar

from pydantic import Field

from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.meta import SecretReference


class JuiceFSVolume(VolumeBlock):
    """A directory of a JuiceFS volume."""

    ABOUT: ClassVar[str] = "A JuiceFS volume, which nodes can cache."
    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = (("secretRef",), ("subPath",))

    secret_ref: SecretReference = Field(
        description="Secret of the volume with the keys `name`, `metaurl`, `storage` and `bucket`."
    )
    sub_path: str | None = Field(
        default=None,
        max_length=4096,
        description="Directory of the data in the volume. Without it, `<namespace>/<name>`, so that no two datasets share a directory; `/` is the whole volume.",
    )
    options: MountOptions | None = Field(
        default=None,
        description="Options of the mount on each node. `sub-dir`, `cache-dir` and `cache-size` have fields of their own: `subPath` and `cache.tiers`.",
    )


VOLUME = JuiceFSVolume
