"""Does the output hold fields that a controller or the API server of Kubernetes writes?

Argo CD applies by force: at every sync it overwrites a field that is in Git, whoever else writes it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.engines.gang.kueue import QUEUE
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.schema.diagnostics import Anchor

_JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")


@dataclass(frozen=True, slots=True)
class Owned:
    """A field, and the component that writes it (`owner`). `allowed` are the values that Git may set nevertheless."""

    path: tuple[str, ...]
    owner: str
    allowed: tuple[object, ...] = ()


_JOB_TEMPLATE = ("spec", "template", "metadata", "labels")
_OWNED: dict[tuple[str, str], tuple[Owned, ...]] = {
    ("", "Namespace"): (Owned(("spec", "finalizers"), "the API server"),),
    ("", "PersistentVolume"): (
        Owned(("spec", "claimRef", "uid"), "the volume controller"),
        Owned(("spec", "claimRef", "resourceVersion"), "the volume controller"),
    ),
    ("", "Pod"): (Owned(("spec", "nodeName"), "the scheduler"),),
    ("", "Service"): (
        Owned(("spec", "clusterIP"), "the API server", allowed=("None",)),
        Owned(("spec", "clusterIPs"), "the API server", allowed=(["None"],)),
        Owned(("spec", "healthCheckNodePort"), "the API server"),
    ),
    ("", "ServiceAccount"): (Owned(("secrets",), "the token controller"),),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        Owned(("spec", "conversion", "webhook", "clientConfig", "caBundle"), "the certificate injector"),
    ),
    ("batch", "Job"): (
        Owned(("spec", "selector"), "the job controller"),
        Owned(("spec", "manualSelector"), "the job controller", allowed=(False,)),
        *(Owned((*_JOB_TEMPLATE, label), "the job controller") for label in _JOB_LABELS),
    ),
}
"""Owned fields by group and kind, for Kubernetes 1.35 to 1.37. Finalizers are not listed: `_finalizers` checks them."""


_QUEUED = frozenset((kind.group, kind.kind) for kind in ENGINE_KINDS if kind.starts)
_FINALIZERS = frozenset({"foregroundDeletion", "orphan"})


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for fields in `_OWNED`, finalizers that Kubernetes sets, and `suspend` of queued objects."""
    found: list[ObjectFinding] = []
    for obj in objects:
        if obj.kind in _OWNED:
            found += _fields(obj)
        if "finalizers" in obj.metadata:
            found += _finalizers(obj)
        if QUEUE in obj.labels:
            found += _queued(obj)
    return found


def _fields(obj: Object) -> Iterator[ObjectFinding]:
    for owned in _OWNED[obj.kind]:
        *home, name = owned.path
        parent = mapping(obj.body, *home)
        if name in parent and parent[name] not in owned.allowed:
            message = f"The field is written by {owned.owner}; Argo CD would take it over."
            yield about(obj, "SP534", owned.path, message, "Remove it.", anchor=Anchor.KEY)


def _finalizers(obj: Object) -> Iterator[ObjectFinding]:
    finalizers = obj.metadata["finalizers"]
    for index, name in enumerate(finalizers if isinstance(finalizers, list) else ()):
        if name in _FINALIZERS or str(name).startswith("kubernetes.io/"):
            message = f'The finalizer "{name}" is set by Kubernetes; Argo CD would take it over.'
            yield about(obj, "SP534", ("metadata", "finalizers", index), message, "Remove it.")


def _queued(obj: Object) -> Iterator[ObjectFinding]:
    """Yield a finding if an object in a queue of Kueue sets `suspend`.

    Kueue suspends and starts such objects; a value from Git would stop them at each sync.
    """
    queue = obj.labels[QUEUE]
    if queue and obj.kind in _QUEUED and "suspend" in mapping(obj.body, "spec"):
        message = f'The queue "{queue}" makes Kueue the writer of this field; Argo CD would take it over.'
        yield about(obj, "SP534", ("spec", "suspend"), message, "Remove it.", anchor=Anchor.KEY)
