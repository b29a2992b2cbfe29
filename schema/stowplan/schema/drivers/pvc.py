"""Claims of a Dataset, of any storage."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.meta import KubernetesType

VolumeClaimTemplate = Annotated[dict[str, Any], KubernetesType("io.k8s.api.core.v1.PersistentVolumeClaimTemplate")]


class ClaimVolume(VolumeBlock):
    """A directory of a PersistentVolumeClaim in the namespace of the dataset: exactly one of `name` and `template`."""

    ABOUT: ClassVar[str] = "A claim of any storage, such as NFS."
    PLACE: ClassVar[tuple[tuple[str, ...], ...]] = (("name",), ("subPath",), ("template", "metadata"))

    name: str | None = Field(default=None, min_length=1, max_length=253, description="Name of a claim that exists.")
    template: VolumeClaimTemplate | None = Field(
        default=None,
        description="The claim itself, written with the dataset: `metadata` and `spec` of a PersistentVolumeClaim. Its name is that of the dataset, unless `metadata.name` says otherwise.",
    )
    sub_path: str | None = Field(
        default=None,
        max_length=4096,
        description="Directory of the data in the claim. Without it, `<namespace>/<name>`; `/` is the whole claim.",
    )


VOLUME = ClaimVolume
