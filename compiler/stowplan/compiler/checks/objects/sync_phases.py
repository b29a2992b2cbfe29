"""The phases of a sync of Argo CD, and the kinds of object that a sync waits for.

Sources, as of Argo CD 3.x: `pkg/sync/sync_context.go` of gitops-engine for phases and waves, `pkg/health` for health.
"""

from functools import cache
from typing import Any

HOOK = "argocd.argoproj.io/hook"
PHASES = ("PreSync", "Sync", "PostSync")

_WITHOUT_HEALTH = frozenset(
    {
        ("", "ConfigMap"),
        ("", "LimitRange"),
        ("", "Namespace"),
        ("", "PersistentVolume"),
        ("", "ResourceQuota"),
        ("", "Secret"),
        ("", "ServiceAccount"),
        ("argoproj.io", "AppProject"),
        ("argoproj.io", "Application"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Group and kind of objects without a health check: Argo CD does not wait for them after they are applied.

No custom resource is listed, because the owner of its CRD may ship a health check. A PodDisruptionBudget is
Progressing until its controller has written a status.
"""


def is_awaited(kind: tuple[str, str], body: dict[str, Any]) -> bool:
    """Whether a sync waits for an object of this kind (group and kind) before it starts the next wave."""
    if kind == ("", "Service"):
        return (body.get("spec") or {}).get("type") == "LoadBalancer"
    return kind not in _WITHOUT_HEALTH


@cache
def phase_of(hook: str) -> int:
    """The index in `PHASES` of the phase that `hook`, the value of the annotation `HOOK`, names first; -1 without one.

    An empty value means the phase Sync.
    """
    words = [word.strip() for word in (hook or "Sync").split(",")]
    return next((PHASES.index(word) for word in words if word in PHASES), -1)
