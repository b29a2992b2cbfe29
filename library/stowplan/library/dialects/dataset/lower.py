"""Lowering of `Dataset`: its volume, its cache pods, the Jobs that fill it, and the CronJobs that refresh it."""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.library.dialects.dataset import rules, sources, syncs
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset.volumes import registry as volumes
from stowplan.library.dialects.shared import dataset_objects, secrets, task_runs
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import Part, Unit
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
    parts = tuple(_parts(model, dataset, home, context.site))
    externals = tuple(sorted({*driver.externals(dataset), *secrets.of_source(dataset.source)}))
    return Lowered(Unit(spec, parts, externals), tuple(found))


def _parts(model: Dataset, dataset: CachedDataset, sync_home: str, site: Site) -> Iterator[Part]:
    yield from dataset_objects.parts(model, dataset, sync_home, site)
    if dataset.source:
        sync = dataset_objects.sync(dataset, sync_home)
        warmup = dataset_objects.warmup(dataset) if dataset.warmed else None
        yield from task_runs.parts("sync", sync, warmup, site, base=dataset.names.base, run=dataset.run)
        if model.spec.refresh:
            yield _refresh(sync, warmup, model.spec.refresh, site)


def _refresh(sync: DataTask, warmup: DataTask | None, refresh: Refresh, site: Site) -> Part:
    """Return the CronJob that copies what is new at the source, with the CronJobs of the warmup that follows."""
    dataset, names = sync.dataset, sync.dataset.names
    schedule, zone = refresh.schedule, refresh.time_zone
    stem = f"{names.base}-refresh"
    again = sync._replace(stems=(names.refresh,), configuration_stem=stem, schedule=schedule, time_zone=zone)
    if warmup:
        stems = tuple(names.refresh_warmup(i) for i in range(dataset.partitions))
        warmup = warmup._replace(stems=stems, configuration_stem=f"{stem}-warmup", after=names.refresh)
        warmup = warmup._replace(schedule=schedule, time_zone=zone)
    again = syncs.deleting(again, refresh)
    own, *following = task_runs.parts("refresh", again, warmup, site, base=names.base, run=dataset.run)
    return replace(own, parts=tuple(following))
