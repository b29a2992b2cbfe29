"""The JuiceFS driver, composed of its parts."""

from stowplan.library.drivers import storage_source
from stowplan.library.drivers.api import TaskSet
from stowplan.library.drivers.juicefs import cache, mount, runtime, sync, tasks, volume
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding
from stowplan.schema.juicefs.options import VOLUME_SECRET_KEYS


class JuiceFSDriver:
    """Driver with volumes of the JuiceFS CSI driver, and tasks of the cache agent."""

    name = "juicefs"

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        path, source = dataset.fields.source, dataset.source
        copied = [] if source and source.remote else storage_source.findings(source, path)
        return [*cache.findings(dataset, site), *mount.findings(dataset, site), *copied]

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        return [*sync.findings(task, site), *tasks.findings(task, site)]

    def cache_directories(self, dataset: CachedDataset, site: Site) -> tuple[str, ...]:
        directories = cache.resolve(dataset, site).directories
        return () if directories == (cache.MEMORY,) else directories

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        return volume.manifests(dataset, site)

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        secret = dataset.volume_secret
        return {ExternalReference("Secret", secret.namespace, secret.name, VOLUME_SECRET_KEYS)}

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        return runtime.near(dataset, required=required)

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        return runtime.manifests(dataset, site, service_account)

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        return tasks.task_set(task, site, service_account)
