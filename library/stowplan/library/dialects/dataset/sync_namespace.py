"""The namespace in which a sync runs, and the external objects that it needs there."""

from stowplan.library.dialects.shared import secrets
from stowplan.library.dialects.shared.context import Context
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, SecretName, Source
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.options import CREDENTIAL_KEYS


def namespace(dataset: CachedDataset, source: Source, context: Context, path: FieldPath) -> tuple[str, list[Finding]]:
    """The namespace, and findings if the sync cannot run there. `path` is the path of the Secret's namespace."""
    home = dataset.names.namespace
    if STORAGE_DRIVERS[dataset.driver].cached:
        return secrets.sync_namespace(home, dataset.volume_secret, source.secret, context.platform, path)
    if source.secret.namespace == home or not source.secret.name:
        return home, []
    message = (
        f"The sync mounts a claim of {home}, and cannot read Secret {source.secret.name} of {source.secret.namespace}."
    )
    return home, [finding("SP303", path, message, f"Create the Secret in {home}.")]


def externals(dataset: CachedDataset, source: Source | None) -> tuple[ExternalReference, ...]:
    """External Secrets and claims. The Secret of a volume has more keys than the Secret of a source."""
    if STORAGE_DRIVERS[dataset.driver].cached:
        wanted = {secrets.volume_reference(dataset.volume_secret)}
        if source and source.secret != dataset.volume_secret:
            wanted.add(secrets.source_reference(source.secret))
        return tuple(sorted(wanted))
    return tuple(sorted({*_claim(dataset), *_keys(source.secret if source else SecretName("", ""))}))


def _claim(dataset: CachedDataset) -> set[ExternalReference]:
    if dataset.claim.template:
        return set()
    return {ExternalReference("PersistentVolumeClaim", dataset.names.namespace, dataset.claim.name)}


def _keys(secret: SecretName) -> set[ExternalReference]:
    """The Secret of a claim's source, with both keys required. A public source has no Secret."""
    return {ExternalReference("Secret", secret.namespace, secret.name, CREDENTIAL_KEYS)} if secret.name else set()
