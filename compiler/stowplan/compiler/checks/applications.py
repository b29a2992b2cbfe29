"""Will each Application of Argo CD sync all that its folder holds?"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.kubernetes_schemas import known_kinds
from stowplan.compiler.manifest_fields import items, mapping, sync_options
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_ARGOCD = "argoproj.io"
_LARGE = 8_000_000
_SKIP_DRY_RUN = "SkipDryRunOnMissingResource=true"

_Kind = tuple[tuple[str, str], bool]
"""Group and kind, and whether the object has a namespace."""


def check(objects: Objects, kubernetes: str) -> list[ObjectFinding]:
    """The size of each folder, the kinds that the project allows, and custom resources without their CRD."""
    found = [finding for members in objects.applications.values() for finding in _size(members)]
    for project in objects.of_kind("AppProject"):
        refused = _refused({(obj.kind, bool(obj.id.namespace)) for obj in objects}, project)
        found += [_not_permitted(obj, project) for obj in objects if (obj.kind, bool(obj.id.namespace)) in refused]
    return found + _dry_runs(objects, kubernetes)


def _size(members: list[Object]) -> Iterator[ObjectFinding]:
    """The repo server refuses folders above 10 MB (`reposerver.max.combined.directory.manifests.size`).

    Measured as JSON, which is about as long as our YAML.
    """
    size = sum(len(obj.text) for obj in members)
    if size > _LARGE:
        folder = members[0].application
        message = f"The folder {folder}/ has about {size / 1e6:.0f} MB; Argo CD reads at most 10 MB for an Application."
        hint = "Raise reposerver.max.combined.directory.manifests.size, or spread the specs over more namespaces."
        yield about(members[0], "SP532", (), message, hint)


def _refused(kinds: Iterable[_Kind], project: Object) -> set[_Kind]:
    """Kinds are allowed by a list: cluster-scoped ones none without it, namespaced ones all without it.

    What Argo CD itself reads is synced by the root Application, under another project.
    """
    spec = mapping(project.body, "spec")
    refused = set()
    for (group, name), namespaced in kinds:
        field = _list_of(namespaced=namespaced)
        listed = any(_allows(entry, group, name) for entry in items(spec, field))
        if not (listed or group == _ARGOCD or (namespaced and field not in spec)):
            refused.add(((group, name), namespaced))
    return refused


def _not_permitted(obj: Object, project: Object) -> ObjectFinding:
    own = obj.id
    group = f" of {own.group}" if own.group else ""
    message = f"{project.id} does not allow the kind {own.kind}{group}, so it would not be synced."
    field = _list_of(namespaced=bool(own.namespace))
    hint = f"Add the kind to the platform file, under the extension or `passThrough`, so that {field} lists it."
    return about(obj, "SP533", ("kind",), message, hint)


def _list_of(*, namespaced: bool) -> str:
    return "namespaceResourceWhitelist" if namespaced else "clusterResourceWhitelist"


def _allows(entry: Json, group: str, kind: str) -> bool:
    return fnmatchcase(group, str(entry.get("group", ""))) and fnmatchcase(kind, str(entry.get("kind", "")))


def _dry_runs(objects: Objects, kubernetes: str) -> list[ObjectFinding]:
    """Argo CD tries every object before it applies one, which fails for a kind whose CRD is not there yet.

    It does not try kinds whose CRD is in the same Application. Its own kinds are always there.
    """
    built_in = {(kind.group, kind.kind) for kind in known_kinds(kubernetes)} | {
        (_ARGOCD, "AppProject"),
        (_ARGOCD, "Application"),
    }
    path: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
    found = []
    for members in objects.applications.values():
        present = built_in | {_defined(obj) for obj in members}
        for obj in members:
            own = obj.id
            if (own.group, own.kind) not in present and _SKIP_DRY_RUN not in sync_options(obj.body):
                message = f"The kind {own.kind} comes from a CRD; the sync fails while that is missing."
                hint = f'Set the annotation {labels.SYNC_OPTIONS}: "{_SKIP_DRY_RUN}".'
                found.append(about(obj, "SP527", path, message, hint))
    return found


def _defined(obj: Object) -> tuple[str, str]:
    """Group and kind that a CRD defines; of any other object, nothing that exists."""
    spec = mapping(obj.body, "spec")
    if obj.id.kind != "CustomResourceDefinition":
        return "", ""
    return str(spec.get("group")), str(mapping(spec, "names").get("kind"))
