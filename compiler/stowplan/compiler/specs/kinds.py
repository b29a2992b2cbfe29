"""Lookup of the built-in kinds of Kubernetes, and of the kinds of plain objects that the platform file allows."""

from stowplan.compiler.kubernetes.schemas import known_kinds
from stowplan.library.manifest import group_of
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.settings import GroupKind


def allowed(platform: Platform, api_version: str, kind: str) -> GroupKind | None:
    """Return the entry of the platform's `passThrough` that allows plain objects of this kind; None if none does."""
    group = group_of(api_version)
    return next((each for each in platform.pass_through if (each.group, each.kind) == (group, kind)), None)


def is_built_in(kubernetes: str, api_version: str, kind: str) -> bool:
    """Whether this Kubernetes version (such as `1.36`) has the kind, in any version of its API group."""
    group = group_of(api_version)
    return any((each.group, each.kind) == (group, kind) for each in known_kinds(kubernetes))


def is_namespaced(platform: Platform, api_version: str, kind: str) -> bool:
    """Whether objects of a kind have a namespace.

    Those of a kind that is not built in have one unless `passThrough` of the platform file marks it as cluster-scoped.
    """
    group = group_of(api_version)
    for each in known_kinds(platform.kubernetes_version):
        if (each.group, each.kind) == (group, kind):
            return each.namespaced
    listed = allowed(platform, api_version, kind)
    return not (listed and listed.cluster_scoped)
