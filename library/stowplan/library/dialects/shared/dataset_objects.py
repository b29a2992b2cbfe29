"""The objects of a dataset of any kind: its volume, its cache pods, and the tasks that fill it."""

from stowplan.library.builders.custom_resource import resource
from stowplan.library.dialects.shared.access import access
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Part
from stowplan.library.values.names import STATEFUL_SET_LIMIT, DatasetNames
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.custom_resource import CustomResource


def parts(model: CustomResource, dataset: CachedDataset, sync_home: str, site: Site) -> list[Part]:
    """Return the parts `resource`, `access`, `volume` and `cache` of a dataset, without those that are empty.

    `sync_home` is the namespace in which the Job of a sync runs. The Jobs are in other parts.
    """
    origin, names = dataset.origin, dataset.names
    driver = STORAGE_DRIVERS[dataset.driver]
    volume, cache = driver.volume(dataset, site), driver.runtime(dataset, site, names.base)
    homes = [names.namespace, *([sync_home] if dataset.source else [])]
    made = [resource(model, origin)]
    if cache or dataset.source:
        made.append(access(names.base, origin, site, namespaces=homes))
    return [*made, *(Part(name, tuple(own)) for name, own in (("volume", volume), ("cache", cache)) if own)]


def long_name(names: DatasetNames) -> list[Finding]:
    """Return a finding if the name of a dataset is too long for the StatefulSet of its cache pods, else no finding."""
    name, longest = names.name, names.runtime
    if len(longest) <= STATEFUL_SET_LIMIT:
        return []
    left = STATEFUL_SET_LIMIT - len(longest) + len(name)
    message = f"The name has {len(name)} characters; StatefulSet {longest} may have {STATEFUL_SET_LIMIT}."
    return [finding("SP504", ("metadata", "name"), message, f"Use at most {left} characters.")]


def sync(dataset: CachedDataset, home: str) -> DataTask:
    """Return the sync that fills a dataset with a source for the first time. Its Job is in the namespace `home`."""
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
    """Return the warmup that follows the first sync, which writes only to the volume, not to the caches of nodes."""
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
