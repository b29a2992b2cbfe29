"""What a storage driver is."""

from dataclasses import dataclass
from typing import Protocol

from stowplan.library.builders.job import Task
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.diagnostics import Finding


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Jobs of one task, one for each of its stems, and the ConfigMap that all of them mount."""

    configuration: Manifest
    jobs: tuple[Task, ...]


class StorageDriver(Protocol):
    """Turns a dataset and the tasks on it into volume objects and agent configurations.

    It takes the place of the compile-time half of paddle-operator's Go interface `Driver`: `CreatePV` and `CreatePVC`
    are `volume`, `CreateService` and `CreateRuntime` are `runtime`, and the four `Create...JobOptions` are
    `tasks`. The run-time half (`CreateCacheStatus`, `Do...Job`) belongs to the agents.
    """

    name: str
    cached: bool
    """Whether nodes cache its datasets: then it has partitions, cache pods, and a volume with a Secret of its own."""

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        """What is wrong with the dataset's options, at paths in its SampleSet."""
        ...

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        """What is wrong with the task's options, at paths in its SampleJob."""
        ...

    def cache_directories(self, dataset: CachedDataset, site: Site) -> tuple[str, ...]:
        """Host directories that the dataset's cache uses on each node; empty where it uses none."""
        ...

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        """The volume and the claim on it, as far as they are made here."""
        ...

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        """Pod affinity of pods that use the dataset, to where it is cached; empty where it is not."""
        ...

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        """What keeps the cache of each node in use and measures it; nothing where there is none."""
        ...

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        """The Jobs of the task, before they have their names, and the configuration they read."""
        ...
