"""The JuiceFS driver: its volumes, and its other parts composed."""

from stowplan.library.builders import volume
from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.metadata import manifest
from stowplan.library.drivers import storage_source
from stowplan.library.drivers.api import StorageDriver
from stowplan.library.drivers.juicefs import cache, mount, runtime, sync, tasks
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding
from stowplan.schema.juicefs.options import VOLUME_SECRET_KEYS

CAPACITY = "10Pi"
"""Capacity that the old operator wrote. A static CSI volume has no quota, but claim and volume need the same one."""

UPSTREAM_STORAGE_CLASS = "paddle-operator"
"""Storage class that paddle-operator named to bind a claim to its volume. The class never existed."""


class JuiceFSDriver(StorageDriver):
    """Driver with volumes of the JuiceFS CSI driver, and tasks of the cache agent."""

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
        """Return a static volume that only the claim can bind, and the claim. The data outlive both (`Retain`).

        An empty storage class prevents dynamic provisioning. Mount options are in `spec.mountOptions`, which is
        mutable, and not in the CSI attributes, which are immutable. With the name profile `upstream`, both objects have
        the values of paddle-operator; the selector of an existing claim is immutable.
        """
        names, secret = dataset.names, dataset.volume_secret
        upstream = names.profile == "upstream"
        shared = {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": UPSTREAM_STORAGE_CLASS if upstream else "",
            "volumeMode": "Filesystem",
        }
        volume_spec: Json = {
            **shared,
            "capacity": {"storage": CAPACITY},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": names.claim,
                "namespace": dataset.origin.spec.namespace,
            },
            "csi": {
                "driver": site.platform.juicefs.csi_driver,
                "fsType": "juicefs",
                "nodePublishSecretRef": {"name": secret.name, "namespace": secret.namespace},
                "volumeHandle": names.volume_handle,
            },
            "mountOptions": list(mount.mount_options(dataset, site)),
            "persistentVolumeReclaimPolicy": "Retain",
        }
        claim_spec: Json = {
            **shared,
            "resources": {"requests": {"storage": CAPACITY}},
            "volumeName": names.volume,
            **({"selector": {"matchLabels": dict(dataset.labels)}} if upstream and dataset.labels else {}),
        }
        head = volume.head(dataset.origin, keep=dataset.retained, extra_labels=dataset.labels)
        return [
            manifest("PersistentVolume", names.volume, head._replace(namespace=""), spec=volume_spec),
            manifest("PersistentVolumeClaim", names.claim, head, spec=claim_spec),
        ]

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        secret = dataset.volume_secret
        return {ExternalReference("Secret", secret.namespace, secret.name, VOLUME_SECRET_KEYS)}

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        return runtime.near(dataset, required=required)

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        return runtime.manifests(dataset, site, service_account)

    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        return tasks.task_set(task, site, service_account)
