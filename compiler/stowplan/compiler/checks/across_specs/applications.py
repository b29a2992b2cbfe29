"""Will each Application of Argo CD sync all that its folder holds?"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

from stowplan.compiler.checks.facts.facts import Fact, Project
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.compiler.kubernetes.schemas import known_kinds
from stowplan.compiler.output import paths
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath

_ARGOCD = "argoproj.io"
_LARGE = 8_000_000
_SKIP_DRY_RUN = "SkipDryRunOnMissingResource=true"
_CLUSTER, _NAMESPACED = "clusterResourceWhitelist", "namespaceResourceWhitelist"

_Kind = tuple[tuple[str, str], bool]
"""Group and kind, and whether the object has a namespace."""


def check(world: World) -> list[ObjectFinding]:
    """The size of each folder, the kinds that the project allows, and custom resources without their CRD."""
    large = [world.applications[name] for name, size in world.sizes.items() if size > _LARGE]
    found = [_too_large(members) for members in large]
    projects = (project for part in world.parts for project in part.projects)
    for project in (each for each in projects if each.owner.path != paths.ROOT_PROJECT):
        refused = _refused(world.kinds, project)
        found += [_not_permitted(fact, project) for fact in world if _kind(fact) in refused] if refused else []
    return found + _dry_runs(world)


def needs_definition(obj: Object) -> bool:
    """Whether Argo CD's try of a custom resource fails as long as its CRD is missing."""
    return _SKIP_DRY_RUN not in obj.sync_options


def project_of(owner: Fact, body: Json) -> Project:
    """The kinds that an AppProject allows."""
    spec = mapping(body, "spec")
    return Project(owner, _patterns(spec, _CLUSTER), _patterns(spec, _NAMESPACED) if _NAMESPACED in spec else None)


def _patterns(spec: Json, field: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(entry.get("group", "")), str(entry.get("kind", ""))) for entry in items(spec, field))


def _too_large(members: list[Fact]) -> ObjectFinding:
    """The repo server refuses folders above 10 MB (`reposerver.max.combined.directory.manifests.size`)."""
    size = sum(fact.size for fact in members)
    first = min(members, key=lambda fact: fact.path)
    message = (
        f"The folder {first.application}/ has about {size / 1e6:.0f} MB; Argo CD reads at most 10 MB for an"
        " Application."
    )
    hint = "Raise reposerver.max.combined.directory.manifests.size, or spread the specs over more namespaces."
    return about(first, "SP532", (), message, hint)


def _kind(fact: Fact) -> _Kind:
    return fact.kind, bool(fact.id.namespace)


def _refused(kinds: Iterable[_Kind], project: Project) -> set[_Kind]:
    """Kinds are allowed by a list: cluster-scoped ones none without it, namespaced ones all without it.

    What Argo CD itself reads is synced by the root Application, under another project.
    """
    refused = set()
    for (group, name), namespaced in kinds:
        patterns = project.namespaced if namespaced else project.cluster
        listed = patterns is None or any(fnmatchcase(group, one) and fnmatchcase(name, two) for one, two in patterns)
        if not (listed or group == _ARGOCD):
            refused.add(((group, name), namespaced))
    return refused


def _not_permitted(fact: Fact, project: Project) -> ObjectFinding:
    own = fact.id
    group = f" of {own.group}" if own.group else ""
    message = f"{project.owner.id} does not allow the kind {own.kind}{group}, so it would not be synced."
    field = _NAMESPACED if own.namespace else _CLUSTER
    hint = f"Add the kind to the platform file, under the extension or `passThrough`, so that {field} lists it."
    return about(fact, "SP533", ("kind",), message, hint)


def _dry_runs(world: World) -> list[ObjectFinding]:
    """Argo CD tries every object before it applies one, which fails for a kind whose CRD is not there yet.

    It does not try kinds whose CRD is in the same Application. Its own kinds are always there.
    """
    custom = [fact for part in world.parts for fact in part.custom]
    defined = {(fact.application, kind) for part in world.parts for fact, kind in part.definitions} if custom else set()
    path: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
    hint = f'Set the annotation {labels.SYNC_OPTIONS}: "{_SKIP_DRY_RUN}".'
    return [
        about(
            fact,
            "SP527",
            path,
            f"The kind {fact.id.kind} comes from a CRD; the sync fails while that is missing.",
            hint,
        )
        for fact in custom
        if (fact.application, fact.kind) not in defined
    ]


@cache
def built_in(kubernetes: str) -> frozenset[tuple[str, str]]:
    """Group and kind of what a cluster with Argo CD always knows."""
    kinds = {(kind.group, kind.kind) for kind in known_kinds(kubernetes)}
    return frozenset(kinds | {(_ARGOCD, "AppProject"), (_ARGOCD, "Application")})
