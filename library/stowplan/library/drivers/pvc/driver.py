"""The driver `pvc`: datasets in a PersistentVolumeClaim without a cache."""

from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.drivers import storage_source
from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.pvc import options, source, storage, sync
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import ExternalReference, Manifest
from stowplan.schema.diagnostics import Finding, finding


class ClaimDriver(StorageDriver):
    """Driver with claims of any storage. The transfer agent fills them, and `juicefs sync` where only it can read.

    It caches nothing, so its datasets have no cache pods, no warmup and no affinity.
    """

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        given, path = dataset.source, dataset.fields.source
        if given is None or given.remote:
            return []
        return storage_source.findings(given, path) if given.direct else source.findings(given.uri, path)

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        if task.operation == "sync":
            uri = task.source.uri if task.source else ""
            return [*source.findings(uri, ("spec", "syncOptions", "source")), *options.findings(task)]
        name = task.dataset.names.name
        message = f"{name} is a claim without caches, so there is nothing to {_VERBS[task.operation]} in it."
        if task.operation == "rmr":
            message = f"{name} is a claim, and no agent removes files from one."
        return [finding("SP455", ("spec", "type"), message, _WAYS_OUT[task.operation])]

    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        claim = dataset.claim
        if not claim.template:
            return []
        return [claim_from_template(claim.name, dataset.origin, claim.template, keep=dataset.retained)]

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        if dataset.claim.template:
            return set()
        return {ExternalReference("PersistentVolumeClaim", dataset.names.namespace, dataset.claim.name)}

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        if task.source and task.source.direct:
            return storage.task_set(task, task.source, site, service_account)
        return sync.task_set(task, site, service_account)


_VERBS = {"warmup": "warm up", "clear": "clear", "rmr": "remove"}
_WAYS_OUT = {
    "warmup": "Remove the job; pods read the claim itself.",
    "clear": "Remove the job.",
    "rmr": "Remove the files in a pod that mounts the claim, or at the source, and sync with `delete-dst: true`.",
}
