"""Interface of a storage driver."""

from dataclasses import dataclass
from typing import Protocol

from stowplan.library.builders.job import Task
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The Jobs of one task, not yet named, and the ConfigMap that all of them mount."""

    configuration: Manifest
    jobs: tuple[Task, ...]


class StorageDriver(Protocol):
    """Turns a dataset and the tasks on it into volume objects and agent configurations.

    It replaces the compile-time half of paddle-operator's Go interface `Driver`: `CreatePV` and `CreatePVC`
    are `volume`, `CreateService` and `CreateRuntime` are `runtime`, and the four `Create...JobOptions` are
    `tasks`. The run-time half (`CreateCacheStatus`, `Do...Job`) belongs to the agents.
    """

    name: str

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        """Return findings about the dataset's options, at paths in its SampleSet."""
        ...

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        """Return findings about the task's options, at paths in its SampleJob."""
        ...

    def cache_directories(self, dataset: CachedDataset, site: Site) -> tuple[str, ...]:
        """Return the host directories that the dataset's cache uses on each cluster node; empty if it uses none."""
        ...

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        """Return the volume and its claim, as far as the driver creates them; it may create none."""
        ...

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        """Return references to the objects of the volume that must exist in the cluster."""
        ...

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        """Return the pod affinity of pods that use the dataset, to the cluster nodes that cache the dataset.

        It is empty without a cache. The scheduler must satisfy it if `required` is true, else it is a preference.
        """
        ...

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        """Return the objects of the cache pods, which mount the dataset on each cache node and measure the cache.

        The list is empty without a cache. `service_account` is the name of the pods' ServiceAccount.
        """
        ...

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        """Return the Jobs of the task, not yet named, and the ConfigMap that the Jobs read.

        `service_account` is the name of the pods' ServiceAccount.
        """
        ...
