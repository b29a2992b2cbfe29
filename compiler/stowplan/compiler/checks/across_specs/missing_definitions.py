"""Does a custom resource lack the option that Argo CD needs while the CRD of its kind is not installed?"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.per_spec import crds
from stowplan.compiler.checks.per_spec.custom_resources import defines
from stowplan.compiler.kubernetes.schemas import known_kinds
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath

_ARGOCD = "argoproj.io"


class CustomObject(NamedTuple):
    """An object of which Argo CD can make a dry run only if the CRD of its kind is installed."""

    owner: ObjectSummary


class DefinedKind(NamedTuple):
    """A CRD, and the group and kind that it defines."""

    owner: ObjectSummary
    kind: tuple[str, str]


def collect(found: SpecObjects) -> Iterator[CustomObject | DefinedKind]:
    """Yield the CRDs, and the custom resources without the sync option that skips the dry run."""
    known = _built_in(found.platform.kubernetes_version)
    for obj in found.objects:
        if obj.kind not in known and labels.SKIP_DRY_RUN not in obj.sync_options:
            yield CustomObject(obj.summary)
    for obj in found.objects.of_kind(crds.KIND):
        yield DefinedKind(obj.summary, defines(obj.body))


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each custom resource without the option whose CRD is not in the same Application.

    Argo CD makes a dry run of every object before it applies the first one. The dry run fails while the CRD of the kind
    is missing; Argo CD skips it for kinds whose CRD is in the same Application.
    """
    defined = {(each.owner.application, each.kind) for each in graph.facts(DefinedKind)}
    owners = [each.owner for each in graph.facts(CustomObject)]
    return [_missing(owner) for owner in owners if (owner.application, owner.kind) not in defined]


def _missing(owner: ObjectSummary) -> ObjectFinding:
    path: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
    message = f"The kind {owner.id.kind} comes from a CRD; the sync fails while that is missing."
    return about(owner, "SP527", path, message, f'Set the annotation {labels.SYNC_OPTIONS}: "{labels.SKIP_DRY_RUN}".')


@cache
def _built_in(kubernetes: str) -> frozenset[tuple[str, str]]:
    """Return group and kind of the objects that every cluster with Argo CD and this Kubernetes version knows."""
    kinds = {(kind.group, kind.kind) for kind in known_kinds(kubernetes)}
    return frozenset(kinds | {(_ARGOCD, "AppProject"), (_ARGOCD, "Application")})
