"""Applies manifests as Argo CD orders a sync, and prunes them in reverse.

The order is that of gitops-engine `pkg/sync/sync_tasks.go`: phase, wave, kind rank, kind, name; then a Namespace
moves before the first object in it, and a CRD before the first object of its kind.
"""

from collections.abc import Callable, Iterable
from typing import Any

from tests.cluster.client import Client, Manifest, true_conditions, wait_for

PHASES = ("PreSync", "Sync", "PostSync", "SyncFail")
KINDS = (
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
)
"""First to last; every other kind comes after them."""

_RANKS = {kind: rank for rank, kind in enumerate(KINDS)}
_WAVE = "argocd.argoproj.io/sync-wave"
_HOOK = "argocd.argoproj.io/hook"
_OPTIONS = "argocd.argoproj.io/sync-options"


def ordered(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The manifests in the order in which Argo CD applies them."""
    tasks = sorted(manifests, key=_sort_key)
    tasks = _bubbled(tasks, _namespace_made, lambda manifest: manifest["metadata"].get("namespace"))
    return _bubbled(tasks, _kind_made, _group_kind)


def apply(client: Client, manifests: Iterable[Manifest]) -> list[Manifest]:
    """Apply all in order, each CRD to the point where it is served; gives what was applied, in that order."""
    applied = ordered(manifests)
    for manifest in applied:
        if manifest["kind"] == "CustomResourceDefinition":
            establish(client, manifest)
        else:
            client.apply(manifest)
    return applied


def establish(client: Client, crd: Manifest) -> Manifest:
    """Apply a CRD and wait until the server serves its kind; gives it as the server has it."""
    client.apply(crd)

    def established() -> Manifest | None:
        live = client.get(crd)
        return live if "Established" in true_conditions(live) else None

    return wait_for(established, what=f"Established of {crd['metadata']['name']}")


def prune(client: Client, applied: Iterable[Manifest]) -> list[Manifest]:
    """Delete in reverse order, in the foreground as Argo CD does, and wait until all are gone.

    Gives what stays because its live object says `Prune=false`, in the order in which it was applied.
    """
    kept: list[Manifest] = []
    going: list[Manifest] = []
    for manifest in applied:
        (kept if "Prune=false" in options(client.get(manifest)) else going).append(manifest)
    remove(client, going)
    return kept


def remove(client: Client, manifests: Iterable[Manifest]) -> None:
    """Delete in reverse order what is still there, whatever its options say, and wait until all are gone."""
    present = [manifest for manifest in reversed(list(manifests)) if client.find(manifest)]
    for manifest in present:
        client.delete(manifest, propagation="Foreground")
    for manifest in present:
        _await_end(client, manifest)


def _await_end(client: Client, manifest: Manifest) -> None:
    """The garbage collector looks for new kinds every 30 s, so a new CRD's object may stay that long."""
    what = f"end of {manifest['kind']} {manifest['metadata']['name']}"
    wait_for(lambda: client.find(manifest) is None, 120, what=what)


def options(manifest: Manifest) -> set[str]:
    """The object's own sync options."""
    return {option.strip() for option in _annotations(manifest).get(_OPTIONS, "").split(",") if option.strip()}


def _annotations(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("annotations") or {}


def _sort_key(manifest: Manifest) -> tuple[int, int, int, str, str]:
    annotations = _annotations(manifest)
    phase = PHASES.index(annotations.get(_HOOK, "Sync"))
    kind = manifest["kind"]
    return phase, int(annotations.get(_WAVE, "0")), _RANKS.get(kind, len(KINDS)), kind, manifest["metadata"]["name"]


def _bubbled(
    tasks: list[Manifest],
    made: Callable[[Manifest], Any],
    used: Callable[[Manifest], Any],
) -> list[Manifest]:
    """Move each object that makes something before the first one that uses it."""
    result: list[Manifest] = []
    for task in tasks:
        key = made(task)
        first = next((place for place, other in enumerate(result) if key and used(other) == key), len(result))
        result.insert(first, task)
    return result


def _namespace_made(manifest: Manifest) -> str | None:
    name: str = manifest["metadata"]["name"]
    return name if (manifest["apiVersion"], manifest["kind"]) == ("v1", "Namespace") else None


def _kind_made(manifest: Manifest) -> tuple[str, str] | None:
    if manifest["kind"] != "CustomResourceDefinition":
        return None
    return manifest["spec"]["group"], manifest["spec"]["names"]["kind"]


def _group_kind(manifest: Manifest) -> tuple[str, str]:
    group, _, _ = manifest["apiVersion"].rpartition("/")
    return group, manifest["kind"]
