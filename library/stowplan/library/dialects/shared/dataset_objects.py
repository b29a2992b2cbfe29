"""The objects of a dataset of any kind: its volume, its cache pods, and the tasks that fill it."""

from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.dialects.shared import access
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Manifest
from stowplan.schema.kinds.custom_resource import CustomResource


def manifests(model: CustomResource, dataset: CachedDataset, sync_home: str, site: Site) -> list[Manifest]:
    """Return the custom resource, the volume, the cache pods if there are any, and the rights of all agents.

    `sync_home` is the namespace in which the Job of a sync runs.
    """
    origin, names = dataset.origin, dataset.names
    driver = STORAGE_DRIVERS[dataset.driver]
    runtime = driver.runtime(dataset, site, names.base)
    homes = [names.namespace, *([sync_home] if dataset.source else [])]
    rights = access.manifests(names.base, origin, site, namespaces=homes) if runtime or dataset.source else []
    return [custom_resource(model, origin), *rights, *driver.volume(dataset, site), *runtime]


def sync(dataset: CachedDataset, home: str) -> DataTask:
    """Return the sync that fills a dataset for the first time. Its Job is in the namespace `home`."""
    return DataTask(
        origin=dataset.origin,
        operation="sync",
        dataset=dataset,
        namespace=home,
        stems=(dataset.names.sync,),
        configuration_stem=f"{dataset.names.base}-sync",
        source=dataset.source,
    )


def warmup(dataset: CachedDataset) -> DataTask:
    """Return the warmup that follows this sync. A sync writes only to the volume, not to the caches of the nodes."""
    return DataTask(
        origin=dataset.origin,
        operation="warmup",
        dataset=dataset,
        namespace=dataset.names.namespace,
        stems=tuple(dataset.names.warmup(i) for i in range(dataset.partitions)),
        configuration_stem=f"{dataset.names.base}-warmup",
        paths=dataset.warmup_paths,
        after=dataset.names.sync,
    )
