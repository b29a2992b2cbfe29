"""PersistentVolume and claim of a dataset through the JuiceFS CSI driver."""

from stowplan.library.builders import volume
from stowplan.library.drivers.juicefs.mount import mount_options
from stowplan.library.ir.data import CachedDataset, Site
from stowplan.library.manifest import Manifest

UPSTREAM_STORAGE_CLASS = "paddle-operator"
"""Storage class that paddle-operator named to bind a claim to its volume. The class never existed."""


def manifests(dataset: CachedDataset, site: Site) -> list[Manifest]:
    """Return a static PersistentVolume and its claim. An empty storage class prevents dynamic provisioning.

    With the name profile `upstream`, both have the values of paddle-operator.
    """
    names = dataset.names
    upstream = names.profile == "upstream"
    storage_class = UPSTREAM_STORAGE_CLASS if upstream else ""
    secret = dataset.volume_secret
    csi = {
        "driver": site.platform.juicefs.csi_driver,
        "fsType": "juicefs",
        "nodePublishSecretRef": {"name": secret.name, "namespace": secret.namespace},
        "volumeHandle": names.volume_handle,
    }
    return [
        volume.persistent_volume(
            names.volume,
            dataset.origin,
            claim=names.claim,
            storage_class=storage_class,
            csi=csi,
            mount_options=mount_options(dataset, site),
            extra_labels=dataset.labels,
            keep=dataset.retained,
        ),
        volume.persistent_volume_claim(
            names.claim,
            dataset.origin,
            volume=names.volume,
            storage_class=storage_class,
            selector=dataset.labels if upstream else None,
            extra_labels=dataset.labels,
            keep=dataset.retained,
        ),
    ]
