"""Lowering of `Dataset`: its volume, its cache pods, the Jobs that fill it, and the CronJobs that refresh it."""

from collections.abc import Iterator

from stowplan.library.builders import job
from stowplan.library.dialects.dataset import rules, sources, syncs
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.volumes import registry as volumes
from stowplan.library.dialects.shared import dataset_objects, secrets
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Manifest, Unit
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.kinds.native.dataset import Dataset, Refresh


def lower(model: Dataset, context: Context) -> Lowered:
    """Return all manifests of a Dataset (none if it has errors) and all findings."""
    dataset = cached_dataset(model, context)
    spec, driver = dataset.origin.spec, STORAGE_DRIVERS[dataset.driver]
    found = [*sources.findings(model), *volumes.findings(model, dataset, context), *rules.findings(model, dataset)]
    if not has_errors(found):
        # What users wrote, without the mount option that follows from another field.
        written = dataset.options.model_copy(update={"sub_dir": None})
        found += driver.validate(dataset._replace(options=written), context.site)
    home, problems = syncs.home(dataset, context)
    found += problems if not has_errors(found) else []
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    manifests = tuple(_manifests(model, dataset, home, context.site))
    externals = tuple(sorted({*secrets.of_volume(dataset), *secrets.of_source(dataset.source)}))
    return Lowered(Unit(spec, manifests, externals), tuple(found))


def _manifests(model: Dataset, dataset: CachedDataset, sync_home: str, site: Site) -> Iterator[Manifest]:
    yield from dataset_objects.manifests(model, dataset, sync_home, site)
    if dataset.source:
        sync = dataset_objects.sync(dataset, sync_home)
        yield from _first_sync(dataset, sync, site)
        if model.spec.refresh:
            yield from _refresh(dataset, sync, model.spec.refresh, site)


def _first_sync(dataset: CachedDataset, sync: DataTask, site: Site) -> Iterator[Manifest]:
    """Yield the Job that fills a dataset, and the Jobs of the warmup that follows.

    The sync has a hash of its own, so that more cache nodes do not start it again.
    """
    driver, base = STORAGE_DRIVERS[dataset.driver], dataset.names.base
    copied = driver.tasks(sync, site, base)
    yield copied.configuration
    (copying,) = job.jobs(copied.jobs, dataset.origin, dataset.run)
    yield copying
    if dataset.warmed:
        warmed = driver.tasks(dataset_objects.warmup(dataset)._replace(after_run=copying.name), site, base)
        yield warmed.configuration
        yield from job.jobs(warmed.jobs, dataset.origin, dataset.run)


def _refresh(dataset: CachedDataset, sync: DataTask, refresh: Refresh, site: Site) -> Iterator[Manifest]:
    """Yield the CronJob that copies what is new at the source, and the CronJobs of the warmup that follows."""
    names = dataset.names
    again = sync._replace(stems=(names.refresh,), configuration_stem=f"{names.base}-refresh")
    tasks = [syncs.deleting(again, refresh)]
    if dataset.warmed:
        stems = tuple(names.refresh_warmup(i) for i in range(dataset.partitions))
        stem = f"{names.base}-refresh-warmup"
        warmup = dataset_objects.warmup(dataset)
        tasks.append(warmup._replace(stems=stems, configuration_stem=stem, after=names.refresh))
    for task in tasks:
        scheduled = task._replace(schedule=refresh.schedule, time_zone=refresh.time_zone)
        made = STORAGE_DRIVERS[dataset.driver].tasks(scheduled, site, names.base)
        yield made.configuration
        for one in made.jobs:
            yield job.cron_job(one, dataset.origin, schedule=refresh.schedule, time_zone=refresh.time_zone)
