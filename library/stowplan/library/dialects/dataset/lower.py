"""Lowering of `Dataset`: its volume, its cache pods, the Jobs that fill it, and the CronJobs that refresh it."""

from collections.abc import Iterator

from stowplan.library.builders import job
from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.dialects.dataset import externals, rules, sources, syncs, volumes
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.shared import access
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Manifest, Unit
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.kinds.native.dataset import Dataset, Refresh


def lower(model: Dataset, context: Context) -> Lowered:
    """Return all manifests of a Dataset (none if it has errors) and all findings."""
    dataset = cached_dataset(model, context)
    spec, driver = dataset.origin.spec, STORAGE_DRIVERS[dataset.driver]
    found = [*sources.findings(model), *volumes.findings(model, dataset), *rules.findings(model, dataset, context)]
    if not has_errors(found):
        # What users wrote, without the mount options that follow from other fields.
        found += driver.validate(dataset._replace(options=_written(model)), context.site)
    home, problems = syncs.home(dataset, context)
    found += problems if not has_errors(found) else []
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    manifests = tuple(_manifests(model, dataset, home, context.site))
    return Lowered(Unit(spec, manifests, externals.of_dataset(dataset)), tuple(found))


def _written(model: Dataset) -> MountOptions:
    volume = model.spec.volume.juicefs
    return (volume.options if volume else None) or MountOptions()


def _manifests(model: Dataset, dataset: CachedDataset, sync_home: str, site: Site) -> Iterator[Manifest]:
    origin, names = dataset.origin, dataset.names
    driver = STORAGE_DRIVERS[dataset.driver]
    runtime = driver.runtime(dataset, site, names.base)
    homes = [names.namespace, *([sync_home] if dataset.source else [])]
    yield custom_resource(model, origin)
    if runtime or dataset.source:
        yield from access.manifests(names.base, origin, site, namespaces=homes)
    yield from driver.volume(dataset, site)
    yield from runtime
    yield from _first_sync(dataset, sync_home, site)
    if model.spec.refresh and dataset.source:
        yield from _refresh(dataset, model.spec.refresh, sync_home, site)


def _first_sync(dataset: CachedDataset, home: str, site: Site) -> Iterator[Manifest]:
    """Yield the Job that fills a dataset, and the Jobs of the warmup that follows; nothing without a source.

    The sync has a hash of its own, so that more cache nodes do not start it again.
    """
    if not dataset.source:
        return
    driver, names = STORAGE_DRIVERS[dataset.driver], dataset.names
    copied = driver.tasks(_sync(dataset, home), site, names.base)
    yield copied.configuration
    (sync,) = job.jobs(copied.jobs, dataset.origin, dataset.run)
    yield sync
    if dataset.warmed:
        stems = tuple(names.warmup(i) for i in range(dataset.partitions))
        warmup = _warmup(dataset, stems, "warmup")._replace(after=names.sync, after_run=sync.name)
        warmed = driver.tasks(warmup, site, names.base)
        yield warmed.configuration
        yield from job.jobs(warmed.jobs, dataset.origin, dataset.run)


def _refresh(dataset: CachedDataset, refresh: Refresh, home: str, site: Site) -> Iterator[Manifest]:
    """Yield the CronJob that copies what is new at the source, and the CronJobs of the warmup that follows."""
    names = dataset.names
    sync = _sync(dataset, home)._replace(stems=(names.refresh,), configuration_stem=f"{names.base}-refresh")
    tasks = [syncs.deleting(sync, refresh)]
    if dataset.warmed:
        stems = tuple(names.refresh_warmup(i) for i in range(dataset.partitions))
        tasks.append(_warmup(dataset, stems, "refresh-warmup")._replace(after=names.refresh))
    for task in tasks:
        scheduled = task._replace(schedule=refresh.schedule, time_zone=refresh.time_zone)
        made = STORAGE_DRIVERS[dataset.driver].tasks(scheduled, site, names.base)
        yield made.configuration
        for one in made.jobs:
            yield job.cron_job(one, dataset.origin, schedule=refresh.schedule, time_zone=refresh.time_zone)


def _sync(dataset: CachedDataset, home: str) -> DataTask:
    return DataTask(
        origin=dataset.origin,
        operation="sync",
        dataset=dataset,
        namespace=home,
        stems=(dataset.names.sync,),
        configuration_stem=f"{dataset.names.base}-sync",
        source=dataset.source,
    )


def _warmup(dataset: CachedDataset, stems: tuple[str, ...], word: str) -> DataTask:
    return DataTask(
        origin=dataset.origin,
        operation="warmup",
        dataset=dataset,
        namespace=dataset.names.namespace,
        stems=stems,
        configuration_stem=f"{dataset.names.base}-{word}",
        paths=dataset.warmup_paths,
    )
