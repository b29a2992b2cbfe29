"""Would any wave of a sync wait, or come too early?"""

from collections.abc import Iterator

from stowplan.compiler.checks.manifests import mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about, milder
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.library import labels
from stowplan.schema.diagnostics import FieldPath

_WAVE: FieldPath = ("metadata", "annotations", labels.SYNC_WAVE)
_RBAC = "rbac.authorization.k8s.io"
_WITHOUT_HEALTH = frozenset(
    {
        ("", "ConfigMap"),
        ("", "LimitRange"),
        ("", "Namespace"),
        ("", "ResourceQuota"),
        ("", "Secret"),
        ("", "Service"),
        ("", "ServiceAccount"),
        ("argoproj.io", "AppProject"),
        ("argoproj.io", "Application"),
        ("networking.k8s.io", "NetworkPolicy"),
        (_RBAC, "ClusterRole"),
        (_RBAC, "ClusterRoleBinding"),
        (_RBAC, "Role"),
        (_RBAC, "RoleBinding"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Kinds that Argo CD 3.x has no health check for, so that their wave is done at once.

Not a PodDisruptionBudget: its check says Progressing until the controller wrote a status, and Degraded when it fails.
"""


def check(objects: Objects) -> list[ObjectFinding]:
    """Only kinds without health stand before the last wave of their Application; nothing before what it needs.

    A sync waits for each wave but the last, without a limit, and meanwhile no other commit is synced.
    """
    found: list[ObjectFinding] = []
    for obj in objects:
        # What comes too early has to move anyway, so it is not said that it also holds the sync.
        found += list(_too_early(obj, objects)) or list(_waiting(obj, objects.last(obj)))
    return found


def _waiting(obj: Object, last: Object) -> Iterator[ObjectFinding]:
    balanced = obj.kind == ("", "Service") and mapping(obj.body, "spec").get("type") == "LoadBalancer"
    if obj.wave == last.wave or (obj.kind in _WITHOUT_HEALTH and not balanced):
        return
    later = f"{last.id} is in wave {last.wave}"
    if obj.kind == ("", "PersistentVolumeClaim"):
        message = (
            f"The claim is in wave {obj.wave}, but {later}: one that is bound with its first pod would wait for ever."
        )
        code = "SP523"
    else:
        message = f"The object is in wave {obj.wave}, but {later}: the sync would wait until this one is healthy."
        code = "SP524"
    yield about(obj, code, _WAVE, message, f"Move it to wave {last.wave}.", severity=milder(obj))


def _too_early(obj: Object, objects: Objects) -> Iterator[ObjectFinding]:
    for reference in objects.references(obj):
        target = objects.find(reference.target)
        if target and target.application == obj.application and obj.wave < target.wave:
            message = f"The object is in wave {obj.wave}, but needs {reference.target}, which is in wave {target.wave}."
            yield about(obj, "SP525", reference.path, message, f"Move it to wave {target.wave} or later.")
