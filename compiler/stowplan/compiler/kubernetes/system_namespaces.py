"""Namespaces of the cluster, of Argo CD and of the CSI driver: whoever starts pods there may take over the cluster."""

from stowplan.schema.platform.platform import Platform

_OF_THE_CLUSTER = "kube-"


def refused(namespace: str, platform: Platform) -> tuple[str, str] | None:
    """Return message and hint of SP615 if users may not have objects in a namespace; None if they may."""
    owner = _owner(namespace, platform)
    if owner is None or namespace in platform.policy.namespaces:
        return None
    message = f"The namespace {namespace} is that of {owner}; what runs there can take over the cluster."
    hint = f"Choose another namespace, or allow this one in the platform file: `policy.namespaces: [{namespace}]`."
    return message, hint


def _owner(namespace: str, platform: Platform) -> str | None:
    if namespace.startswith(_OF_THE_CLUSTER):
        return "the cluster itself"
    if namespace == platform.argocd.namespace:
        return "Argo CD (`argocd.namespace`)"
    return "the CSI driver (`juicefs.csiNamespace`)" if namespace == platform.juicefs.csi_namespace else None
