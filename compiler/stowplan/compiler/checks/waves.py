"""Would any wave of a sync wait, or come too early?"""

from collections.abc import Iterator

from stowplan.compiler.checks.manifests import authored, identity, mapping, wave_of
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects, application_of
from stowplan.compiler.checks.references import references_of
from stowplan.compiler.model import Output
from stowplan.library import labels
from stowplan.schema.diagnostics import FieldPath, Severity

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
    for output in objects.outputs:
        found += _waiting(output, objects.last(output))
        found += _too_early(output, objects)
    return found


def _waiting(output: Output, last: Output) -> Iterator[ObjectFinding]:
    body = output.manifest.body
    wave, last_wave = wave_of(body), wave_of(last.manifest.body)
    own = identity(body)
    balanced = own.kind == "Service" and mapping(body, "spec").get("type") == "LoadBalancer"
    if wave == last_wave or ((own.group, own.kind) in _WITHOUT_HEALTH and not balanced):
        return
    later = f"{identity(last.manifest.body)} is in wave {last_wave}"
    if own.kind == "PersistentVolumeClaim":
        message = f"The claim is in wave {wave}, but {later}: one that is bound with its first pod would wait for ever."
        code = "SP523"
    else:
        message = f"The object is in wave {wave}, but {later}: the sync would wait until this one is healthy."
        code = "SP524"
    severity = None if authored(output) else Severity.WARNING
    yield about(output, code, _WAVE, message, f"Move it to wave {last_wave}.", severity=severity)


def _too_early(output: Output, objects: Objects) -> Iterator[ObjectFinding]:
    body = output.manifest.body
    for reference in references_of(body):
        target = objects.find(reference.target)
        if target is None or application_of(target) != application_of(output):
            continue
        wave, needed = wave_of(body), wave_of(target.manifest.body)
        if wave < needed:
            message = f"The object is in wave {wave}, but needs {reference.target}, which is in wave {needed}."
            yield about(output, "SP525", reference.path, message, f"Move it to wave {needed} or later.")
