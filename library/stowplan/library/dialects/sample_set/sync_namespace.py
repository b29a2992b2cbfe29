"""The namespace in which the Job of a sync runs, and the objects that must exist in the cluster for it."""

from stowplan.library.dialects.shared import secrets
from stowplan.library.dialects.shared.context import Context
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, Source
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.options import CREDENTIAL_KEYS


def namespace(dataset: CachedDataset, source: Source, context: Context, path: FieldPath) -> tuple[str, list[Finding]]:
    """Return the namespace in which the Job of a sync runs, and findings if no namespace is possible.

    With findings, it is the dataset's namespace. `path` is the path of the field with the Secret's namespace.
    """
    home = dataset.names.namespace
    if dataset.cached:
        return secrets.sync_namespace(home, dataset.volume_secret, source.secret, context.platform, path)
    if source.secret.namespace == home or not source.secret.name:
        return home, []
    message = (
        f"The sync mounts a claim of {home}, and cannot read Secret {source.secret.name} of {source.secret.namespace}."
    )
    return home, [finding("SP303", path, message, f"Create the Secret in {home}.")]


def externals(dataset: CachedDataset, source: Source | None) -> tuple[ExternalReference, ...]:
    """Return references to the Secrets and the claim that the dataset and its sync need, sorted.

    The Secret of a volume must have more keys than the Secret of a source. A source that only fills a volume may be
    public, so its Secret has no required keys; that of a sync into a claim has both, if there is one.
    """
    wanted = STORAGE_DRIVERS[dataset.driver].externals(dataset)
    if dataset.cached:
        if source and source.secret != dataset.volume_secret:
            wanted.add(ExternalReference("Secret", source.secret.namespace, source.secret.name))
    elif source and source.secret.name:
        wanted.add(ExternalReference("Secret", source.secret.namespace, source.secret.name, CREDENTIAL_KEYS))
    return tuple(sorted(wanted))
