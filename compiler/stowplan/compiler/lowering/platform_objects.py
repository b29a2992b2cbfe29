"""Objects that the platform file adds to the manifests of specs: CRDs, namespaces, reporters, Applications."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from importlib.metadata import version
from typing import NamedTuple

from stowplan.compiler.diagnostics.locations import PLATFORM_FILE
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.output import paths
from stowplan.library.builders.namespace import namespace
from stowplan.library.delivery import argocd, reporter
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.health import settings_patch
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values.names import is_dns_label
from stowplan.library.values.namespace_patterns import permitted
from stowplan.schema.export.shipped_crds import custom_resource_definitions
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.platform import Platform

_NOT_OURS = ("default",)
_SYSTEM = "kube-"


class OutputPlace(NamedTuple):
    """Place of objects in the output: their top-level folder, their namespace, and the namespace of their spec.

    `home` is empty for objects of no spec.
    """

    folder: str
    namespace: str
    home: str

    @classmethod
    def of(cls, path: str, identity: ObjectId, spec: SpecId | None) -> "OutputPlace":
        """Return the place of an object at `path` of the output folder."""
        return cls(path.partition("/")[0], identity.namespace, spec.namespace if spec else "")


def places(outputs: Iterable[OutputFile]) -> set[OutputPlace]:
    """Return the distinct places of outputs."""
    return {OutputPlace.of(each.path, each.id, each.spec) for each in outputs}


def delivered(specs: Set[OutputPlace], others: Sequence[OutputFile], program: Program) -> list[OutputFile]:
    """Return all objects that belong to no spec: `others`, CRDs, reporters, Namespaces, and Argo CD's Applications.

    `others` are the plain objects and those of extensions. `specs` are the places of the objects of all specs.
    """
    platform = program.platform
    outputs = [*others, *_crds(platform)]
    outputs += _reporters(sorted({each.home for each in specs} - {""}), platform)
    outputs += _namespaces(specs | places(outputs), platform)
    outputs += _argocd(specs | places(outputs), platform)
    return [*others, *(replace(each, source=program.platform_file) for each in outputs[len(others) :])]


def settings(program: Program) -> list[OutputFile]:
    """Return the patch that an administrator merges into Argo CD's settings by hand; empty without `argocd.repoURL`.

    The suffix of its file name excludes it from every sync.
    """
    platform = program.platform
    if platform.argocd.repo_url is None:
        return []
    manifest = settings_patch(platform.argocd.namespace)
    source, other = program.platform_file, program.other_platform
    return [OutputFile(f"{manifest.stem}.patch.txt", manifest, spec=None, source=source, other_platform=other)]


def _crds(platform: Platform) -> list[OutputFile]:
    """Return the CRDs of all kinds, even unused ones: removing a CRD from a cluster removes every object of its kind.

    Empty if the platform file says that the CRDs are installed otherwise.
    """
    if platform.argocd.crds == "external":
        return []
    definitions = [Manifest(body, stem=body["metadata"]["name"]) for body in custom_resource_definitions()]
    return output_layout.of_platform(definitions, paths.CRDS)


def _reporters(homes: Sequence[str], platform: Platform) -> Iterator[OutputFile]:
    """Yield the objects of one reporter for each namespace of specs (`homes`), unless the platform switches it off."""
    if not platform.reporter:
        return
    site = Site(platform, version("stowplan"))
    for home in homes:
        yield from output_layout.of_platform(reporter.manifests(home, site), f"{home}/{reporter.FOLDER}")


def _namespaces(places: Set[OutputPlace], platform: Platform) -> list[OutputFile]:
    if not platform.namespaces.emit:
        return []
    used = sorted({each.namespace for each in places} - {"", *_NOT_OURS})
    level = platform.namespaces.pod_security
    wanted = [namespace(name, level) for name in used if not name.startswith(_SYSTEM)]
    return output_layout.of_platform(wanted, paths.CLUSTER)


def _argocd(places: Set[OutputPlace], platform: Platform) -> list[OutputFile]:
    """Return an AppProject, an Application for each top-level folder, and the root Application that syncs these.

    Empty without `argocd.repoURL`.
    """
    settings = platform.argocd
    if settings.repo_url is None:
        return []
    folders = sorted({each.folder for each in places})
    home = _permitted_namespace(platform, {each.namespace for each in places})
    manifests = [argocd.app_project(platform), *(_application(folder, home, platform) for folder in folders)]
    return [*output_layout.of_platform(manifests, paths.ARGOCD), *_root(settings)]


def _root(settings: ArgoCD) -> list[OutputFile]:
    """Return the root Application, and its AppProject unless the platform file names an existing one."""
    root = argocd.root_application(settings, paths.ARGOCD)
    outputs = [OutputFile(paths.ROOT, root, spec=None, source=PLATFORM_FILE)]
    if settings.root_project is None:
        project = argocd.root_project(settings)
        outputs.append(OutputFile(paths.ROOT_PROJECT, project, spec=None, source=PLATFORM_FILE))
    return outputs


def _application(folder: str, home: str, platform: Platform) -> Manifest:
    """Return the Application of a top-level folder.

    If the Application of a namespace is deleted, Argo CD deletes its objects too; not so for CRDs and `_cluster`.
    """
    settings = platform.argocd
    if folder in (paths.CRDS, paths.CLUSTER):
        return argocd.application(settings, folder.strip("_"), folder=folder, namespace=home, cascade=False)
    return argocd.application(
        settings, f"ns-{folder}", folder=folder, namespace=folder, cascade=True, ignored=_ignored(platform)
    )


def _ignored(platform: Platform) -> Iterator[Json]:
    """Yield entries of `ignoreDifferences` for fields of committed objects that gates and the gang engine change."""
    yield from argocd.gate_differences()
    for shared in GANG_ENGINES[platform.engines.gang].shared_fields():
        entry: Json = {"group": shared.group, "kind": shared.kind}
        if shared.paths:
            entry["jsonPointers"] = list(shared.paths)
        if shared.queries:
            entry["jqPathExpressions"] = list(shared.queries)
        yield entry


def _permitted_namespace(platform: Platform, used: Iterable[str]) -> str:
    """Return a namespace for the destination of Applications whose folder is not that of a namespace.

    Argo CD refuses an Application whose destination its project does not allow, even if no object goes there.
    """
    patterns = platform.argocd.destination.namespaces
    known = [platform.default_namespace, *sorted(patterns), *sorted(used)]
    found = (name for name in known if is_dns_label(name) and permitted(name, patterns))
    return next(found, platform.default_namespace)
