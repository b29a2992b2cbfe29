"""Secrets and claims that a dataset and its tasks need, and the namespace in which a sync can use them."""

from stowplan.library.ir.data import SecretName, Source
from stowplan.library.manifest import ExternalReference
from stowplan.library.values.names import is_dns_label, is_dns_subdomain
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.meta import SecretReference
from stowplan.schema.platform.platform import Platform


def name_findings(reference: SecretReference | None, path: FieldPath) -> list[Finding]:
    """Return findings about names in `reference` that no Secret or namespace can have."""
    found = []
    if reference and reference.name and not is_dns_subdomain(reference.name):
        message = f'"{reference.name}" cannot be the name of a Secret.'
        hint = "Use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit."
        found.append(finding("SP210", (*path, "name"), message, hint))
    if reference and reference.namespace and not is_dns_label(reference.namespace):
        message = f'"{reference.namespace}" cannot be the name of a namespace.'
        hint = "Use lower-case letters, digits and `-`, beginning and ending with a letter or digit."
        found.append(finding("SP210", (*path, "namespace"), message, hint))
    return found


def resolve(reference: SecretReference | None, fallback: SecretName) -> SecretName:
    """Return the Secret that `reference` names; a missing name or namespace is taken from `fallback`.

    The old operator did the same.
    """
    if reference is None:
        return fallback
    return SecretName(reference.namespace or fallback.namespace, reference.name or fallback.name)


def elsewhere(home: str, secret: SecretName, platform: Platform, path: FieldPath) -> list[Finding]:
    """Return a finding if specs of the namespace `home` may not use `secret`, else an empty list.

    They may use Secrets of `home`, and of the namespaces that `policy.crossNamespaceSecrets` lists for it.
    """
    pairs = ((each.spec_namespace, each.secret_namespace) for each in platform.policy.cross_namespace_secrets)
    # `name_findings` reports invalid names of namespaces.
    if not secret.name or secret.namespace == home or not is_dns_label(secret.namespace):
        return []
    if (home, secret.namespace) in pairs:
        return []
    message = f"Secret {secret.name} is in namespace {secret.namespace}; specs of {home} may use those of {home} alone."
    hint = (
        f"Create the Secret in {home}, or list `specNamespace: {home}` and `secretNamespace: {secret.namespace}` in "
        "`policy.crossNamespaceSecrets` of the platform file."
    )
    return [finding("SP303", path, message, hint)]


def of_source(source: Source | None) -> set[ExternalReference]:
    """Return the reference to the Secret of a source, with its required keys; empty if it has none."""
    if source is None or not source.secret.name:
        return set()
    keys = source.remote.keys if source.remote else ()
    return {ExternalReference("Secret", source.secret.namespace, source.secret.name, keys)}


def sync_namespace(
    home: str, volume: SecretName, source: SecretName, platform: Platform, path: FieldPath
) -> tuple[str, list[Finding]]:
    """Return the namespace in which the Job of a sync runs, and findings if no namespace is possible.

    It is the namespace of the Secrets, since a pod reads only Secrets of its own namespace. With findings, it is
    `home`, the namespace of the dataset.
    """
    if volume.namespace == source.namespace == home:
        return home, []
    if volume.namespace != source.namespace:
        message = (
            f"The volume's Secret is in namespace {volume.namespace}, the source's in {source.namespace}; "
            "a sync needs both in one."
        )
        return home, [finding("SP303", path, message, "Copy one of them into the namespace of the other.")]
    if platform.policy.cross_namespace_tasks:
        return volume.namespace, []
    message = f"Secret {volume.name} is in namespace {volume.namespace}; a task in {home} cannot read it."
    hint = (
        f"Create the Secret in {home}, set `noSync: true` if the volume is filled from elsewhere, or set "
        f"`policy.crossNamespaceTasks: true` in the platform file to run the sync in {volume.namespace}."
    )
    return home, [finding("SP303", path, message, hint)]
