"""Does the project of each Application allow the kinds of its objects?"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.compiler.output import paths
from stowplan.library.manifest import Json

_ARGOCD = "argoproj.io"
_CLUSTER, _NAMESPACED = "clusterResourceWhitelist", "namespaceResourceWhitelist"

_Kind = tuple[tuple[str, str], bool]
"""Group and kind, and whether the object has a namespace."""


class Project(NamedTuple):
    """The kinds that an AppProject allows, as pairs of patterns for group and kind.

    `cluster` is the list for kinds without a namespace, `namespaced` the one for kinds with a namespace. `namespaced`
    is None if the project has no such list; the project then allows all kinds with a namespace.
    """

    owner: ObjectSummary
    cluster: tuple[tuple[str, str], ...]
    namespaced: tuple[tuple[str, str], ...] | None


def collect(found: SpecObjects) -> Iterator[Project]:
    """Yield the AppProjects, except the root project; under that, Argo CD syncs only Applications and AppProjects."""
    for obj in found.objects.of_kind("AppProject"):
        if obj.output.path != paths.ROOT_PROJECT:
            spec = mapping(obj.body, "spec")
            namespaced = _patterns(spec, _NAMESPACED) if _NAMESPACED in spec else None
            yield Project(obj.summary, _patterns(spec, _CLUSTER), namespaced)


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return a finding for each pair of an object and an AppProject that does not allow the kind of the object."""
    projects = graph.facts(Project)
    kinds = {_kind(each) for each in graph} if projects else set()
    found: list[ObjectFinding] = []
    for project in projects:
        if refused := _refused(kinds, project):
            found += [_not_permitted(each, project) for each in graph if _kind(each) in refused]
    return found


def _patterns(spec: Json, field: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(entry.get("group", "")), str(entry.get("kind", ""))) for entry in items(spec, field))


def _kind(summary: ObjectSummary) -> _Kind:
    return summary.kind, bool(summary.id.namespace)


def _refused(kinds: Iterable[_Kind], project: Project) -> set[_Kind]:
    """Return the kinds that match no pattern of the project, except the kinds of Argo CD itself.

    A project without a list refuses all kinds without a namespace, and allows all kinds with a namespace.
    """
    refused = set()
    for (group, name), namespaced in kinds:
        patterns = project.namespaced if namespaced else project.cluster
        listed = patterns is None or any(fnmatchcase(group, one) and fnmatchcase(name, two) for one, two in patterns)
        if not (listed or group == _ARGOCD):
            refused.add(((group, name), namespaced))
    return refused


def _not_permitted(summary: ObjectSummary, project: Project) -> ObjectFinding:
    own = summary.id
    group = f" of {own.group}" if own.group else ""
    message = f"{project.owner.id} does not allow the kind {own.kind}{group}, so it would not be synced."
    field = _NAMESPACED if own.namespace else _CLUSTER
    hint = f"Add the kind to the platform file, under the extension or `passThrough`, so that {field} lists it."
    return about(summary, "SP533", ("kind",), message, hint)
