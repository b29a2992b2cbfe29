"""Conversion of the objects that extensions add into manifests."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stowplan.compiler.kubernetes.rules import CLUSTER_SCOPED
from stowplan.library.manifest import Json, Manifest, group_of
from stowplan.library.values.names import SUBDOMAIN_LIMIT, is_dns_label
from stowplan.schema.platform.platform import Platform

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Misshapen:
    """Reason why an object cannot become a manifest."""

    message: str


def manifest_of(body: Json, platform: Platform) -> Manifest | Misshapen:
    """Return the manifest of an object that an extension added, or the reason why it cannot be one.

    A namespaced object without a namespace gets the platform's default one. A cluster-scoped object loses the namespace
    of its chart. Cluster-scoped kinds are the ones of Kubernetes, and those that the platform file marks so in the
    `kinds` of an extension. Names become file names, so only letters, digits and `-_.:` are allowed.
    """
    api_version, kind, metadata = body.get("apiVersion"), body.get("kind"), body.get("metadata")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not _KIND.fullmatch(kind):
        return Misshapen(f"An object has apiVersion {api_version!r} and kind {kind!r}; both must be given.")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not _is_name(name):
        return Misshapen(f"A {kind} has the name {name!r}; allowed are letters, digits and `-_.:`.")
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    if (group_of(api_version), kind) not in _cluster_scoped(platform):
        namespace = metadata.get("namespace") or platform.default_namespace
        if not isinstance(namespace, str) or not is_dns_label(namespace):
            return Misshapen(f"{kind} {name} has the namespace {namespace!r}, which is no DNS label.")
        placed["namespace"] = namespace
    return Manifest({**body, "metadata": placed}, name)


def _is_name(name: str) -> bool:
    return len(name) <= SUBDOMAIN_LIMIT and _NAME.fullmatch(name) is not None


def _cluster_scoped(platform: Platform) -> Iterable[tuple[str, str]]:
    declared = (kind for extension in platform.extensions for kind in extension.kinds)
    return CLUSTER_SCOPED | {(kind.group, kind.kind) for kind in declared if kind.cluster_scoped}
