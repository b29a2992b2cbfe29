"""Interface of a storage driver as the volume of a Dataset: what its block in `volume` means, and its rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset, Claim, SecretName
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.kinds.native.dataset import Dataset

PATH: FieldPath = ("spec", "volume")

Block = TypeVar("Block", bound=VolumeBlock)


class Held(NamedTuple):
    """Where the data of a Dataset is: the claim that pods mount, and what the driver makes it of.

    `secret` is the Secret that names the volume, with an empty name for a driver without one. `options` are those of
    the mount.
    """

    claim: Claim
    secret: SecretName
    options: MountOptions = MountOptions()


@dataclass(frozen=True, slots=True)
class Volume(Generic[Block]):
    """The volume of one driver: `VOLUME` of the module with the driver's name.

    `held` returns where the data of a Dataset in a namespace is. `findings` yields findings about the block, at paths
    in the Dataset; the last argument but one is what the Dataset describes.

    An example is `stowplan.library.dialects.dataset.volumes.toy`::

        '''Toy volumes of Datasets.'''

        from stowplan.library.dialects.dataset.volumes.volume import Held, Volume, directory, sub_path
        from stowplan.library.ir.data import Claim, SecretName


        def _held(volume, model, namespace):
            return Held(Claim(model.metadata.name, directory(volume, model, namespace)), SecretName(namespace, ""))


        def _findings(volume, model, dataset, context):
            return sub_path(volume.sub_path, ("spec", "volume", "toy", "subPath"), "volume")


        VOLUME = Volume(_held, _findings)
    """

    held: Callable[[Block, Dataset, str], Held]
    findings: Callable[[Block, Dataset, CachedDataset, Context], Iterator[Finding]]


def directory(block: VolumeBlock, model: Dataset, namespace: str) -> str:
    """Return the directory of the data in the volume, empty for the root; by default `<namespace>/<name>`."""
    return claim_paths.canonical(block.sub_path or f"{namespace}/{model.metadata.name}")


def sub_path(path: str | None, at: FieldPath, whole: str) -> list[Finding]:
    """Return findings at `at` about the directory `path` of a `whole`, such as "volume"; `/` and None are all of it."""
    return claim_paths.sub_path(path, at, whole) if path and path != "/" else []
