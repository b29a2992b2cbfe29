"""Interface of a storage driver."""

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

    It replaces the compile-time half of paddle-operator's Go interface `Driver`: `CreatePV` and `CreatePVC`
    are `volume`, `CreateService` and `CreateRuntime` are `runtime`, and the four `Create...JobOptions` are
    `tasks`. The run-time half (`CreateCacheStatus`, `Do...Job`) belongs to the agents.
    """

    name: str
    cached: bool
    """Whether nodes cache its datasets. Such datasets have partitions, cache pods, and a volume with a Secret."""

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        """Findings about the dataset's options, at paths in its SampleSet."""
        ...

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        """Findings about the task's options, at paths in its SampleJob."""
        ...

    def cache_directories(self, dataset: CachedDataset, site: Site) -> tuple[str, ...]:
        """Host directories that the dataset's cache uses on each node; empty without such a cache."""
        ...

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        """The volume and the claim on it, if the driver creates them."""
        ...

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        """Pod affinity of pods that use the dataset, to the nodes that cache it; empty without a cache."""
        ...

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        """Objects that keep the cache of each node in use and measure it; empty without a cache."""
        ...

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        """The Jobs of the task, not yet named, and the configuration that they read."""
        ...
