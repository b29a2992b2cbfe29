"""Lookup of plain Kubernetes kinds, and of the kinds that the platform lets through."""

from stowplan.compiler.kubernetes.schemas import known_kinds
from stowplan.library.manifest import group_of
from stowplan.schema.platform.platform import GroupKind, Platform


def allowed(platform: Platform, api_version: str, kind: str) -> GroupKind | None:
    """The entry of `passThrough` that lets objects of this kind through, or None."""
    group = group_of(api_version)
    return next((each for each in platform.pass_through if (each.group, each.kind) == (group, kind)), None)


def is_built_in(kubernetes: str, api_version: str, kind: str) -> bool:
    """Whether this kind is built into Kubernetes."""
    group = group_of(api_version)
    return any((each.group, each.kind) == (group, kind) for each in known_kinds(kubernetes))


def is_namespaced(platform: Platform, api_version: str, kind: str) -> bool:
    """Whether a kind has namespaces; a kind that is not built in has them unless the platform says otherwise."""
    group = group_of(api_version)
    for each in known_kinds(platform.kubernetes_version):
        if (each.group, each.kind) == (group, kind):
            return each.namespaced
    listed = allowed(platform, api_version, kind)
    return not (listed and listed.cluster_scoped)
