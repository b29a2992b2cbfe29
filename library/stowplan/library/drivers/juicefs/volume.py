"""PersistentVolume and claim of a dataset through the JuiceFS CSI driver, bound to each other by name."""

from stowplan.library.builders import volume
from stowplan.library.builders.metadata import manifest
from stowplan.library.drivers.juicefs.mount import mount_options
from stowplan.library.ir.data import CachedDataset, Site
from stowplan.library.manifest import Json, Manifest

CAPACITY = "10Pi"
"""Capacity that the old operator wrote. A static CSI volume has no quota, but claim and volume need the same one."""

UPSTREAM_STORAGE_CLASS = "paddle-operator"
"""Storage class that paddle-operator named to bind a claim to its volume. The class never existed."""


def manifests(dataset: CachedDataset, site: Site) -> list[Manifest]:
    """Return a static volume that only the claim can bind, and the claim. The data outlive both (`Retain`).

    An empty storage class prevents dynamic provisioning. Mount options are in `spec.mountOptions`, which is mutable,
    and not in the CSI attributes, which are immutable. With the name profile `upstream`, both objects have the values
    of paddle-operator; the selector of an existing claim is immutable.
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
        "mountOptions": list(mount_options(dataset, site)),
        "persistentVolumeReclaimPolicy": "Retain",
    }
    claim_spec: Json = {
        **shared,
        "resources": {"requests": {"storage": CAPACITY}},
        "volumeName": names.volume,
        **({"selector": {"matchLabels": dict(dataset.labels)}} if upstream and dataset.labels else {}),
    }
    part = volume.part(dataset.origin, keep=dataset.retained, extra_labels=dataset.labels)
    return [
        manifest("PersistentVolume", names.volume, part._replace(namespace=""), spec=volume_spec),
        manifest("PersistentVolumeClaim", names.claim, part, spec=claim_spec),
    ]
