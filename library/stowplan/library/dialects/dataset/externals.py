"""Objects that must exist in the cluster for a Dataset."""

from stowplan.library.dialects.shared import secrets
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, Source
from stowplan.library.manifest import ExternalReference


def of_dataset(dataset: CachedDataset) -> tuple[ExternalReference, ...]:
    """Return references to the Secrets and the claim that a dataset and its sync need, sorted."""
    wanted = {*of_volume(dataset), *of_source(dataset.source)}
    return tuple(sorted(wanted))


def of_volume(dataset: CachedDataset) -> set[ExternalReference]:
    """Return the reference to the Secret of a JuiceFS volume, or to a claim that the dataset does not create."""
    if STORAGE_DRIVERS[dataset.driver].cached:
        return {secrets.volume_reference(dataset.volume_secret)}
    if dataset.claim.template:
        return set()
    return {ExternalReference("PersistentVolumeClaim", dataset.names.namespace, dataset.claim.name)}


def of_source(source: Source | None) -> set[ExternalReference]:
    """Return the reference to the Secret of a source, with its required keys; empty if it has none."""
    if source is None or not source.secret.name:
        return set()
    keys = source.remote.keys if source.remote else ()
    return {ExternalReference("Secret", source.secret.namespace, source.secret.name, keys)}
