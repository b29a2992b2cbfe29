"""The directories of claims that the trainer of a Training can write to, and that outlive its pods."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stowplan.library.dialects.training.datasets import MountedDataset
from stowplan.library.dialects.training.job import Job
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset
from stowplan.library.manifest import Json


class Writable(NamedTuple):
    """A directory of a claim: `sub_path` in the claim, `mount_path` in the trainer.

    `modes` are the access modes of the claim; None if the specs do not say them. `cached` is true for a JuiceFS volume.
    `tolerations` are those of pods that work on the data.
    """

    mount_path: str
    claim: str
    sub_path: str
    modes: tuple[str, ...] | None = None
    cached: bool = False
    tolerations: tuple[Json, ...] = ()

    def inside(self, path: str) -> str:
        """Return a `path` of the trainer in this directory as a path relative to it; empty for the directory itself."""
        return path.rstrip("/").removeprefix(self.mount_path.rstrip("/")).strip("/")


def directories(job: Job, datasets: Iterable[MountedDataset]) -> Iterator[Writable]:
    """Yield the directories of a job that mounts `datasets`."""
    for each in datasets:
        if not each.given.read_only:
            yield _of_dataset(each.given.mount_path, each.dataset)
    if kept := job.checkpoints:
        yield Writable(kept.given.mount_path, kept.name, "", modes_of(kept.template))


def of_path(path: str, found: Iterable[Writable]) -> Writable | None:
    """Return the directory that holds `path`, the innermost of several; None if none does."""
    within = [each for each in found if f"{path.rstrip('/')}/".startswith(f"{each.mount_path.rstrip('/')}/")]
    return max(within, key=lambda each: len(each.mount_path), default=None)


def modes_of(template: Json | None) -> tuple[str, ...] | None:
    """Return the access modes in the template of a claim; None without a template or without modes."""
    modes = ((template or {}).get("spec") or {}).get("accessModes")
    return tuple(map(str, modes)) if modes else None


def _of_dataset(mount_path: str, dataset: CachedDataset) -> Writable:
    cached = STORAGE_DRIVERS[dataset.driver].cached
    modes = ("ReadWriteMany",) if cached else modes_of(dataset.claim.template)
    claim = dataset.claim
    return Writable(mount_path, claim.name, claim.sub_path, modes, cached, tuple(dataset.placement.tolerations))
