"""Objects that the platform file adds to the manifests of specs: CRDs, namespaces, reporters, Applications."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from importlib.metadata import version
from typing import NamedTuple

from stowplan.compiler.lowering import output_layout
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.output import paths
from stowplan.library.builders.namespace import LABELS, namespace
from stowplan.library.composition.tree import ChartSource, completed
from stowplan.library.delivery import argocd, reporter
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.health import settings_patch
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values.names import is_dns_label
from stowplan.library.values.namespace_patterns import permitted
from stowplan.schema.export.shipped_crds import custom_resource_definitions
from stowplan.schema.meta import ObjectId, SpecId
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


Rendering = Callable[[Sequence[ChartSource]], Sequence[ChartSource]]
"""Gives to the objects of charts what comes from their chart: by cdk8s, or in the same way without it."""


class PlacedChart(NamedTuple):
    """A chart that belongs to no spec, and the paths of its objects in the output."""

    chart: ChartSource
    path: Callable[[Manifest], str]


def delivered(
    specs: Set[OutputPlace], others: Sequence[OutputFile], program: Program, render: Rendering
) -> list[OutputFile]:
    """Return all objects that belong to no spec: `others` and those of `charts_of_platform`."""
    return [*others, *_outputs(charts_of_platform(specs, others, program.platform), program, render)]


def charts_of_platform(specs: Set[OutputPlace], others: Sequence[OutputFile], platform: Platform) -> list[PlacedChart]:
    """Return the charts of CRDs, reporters, Namespaces, and Argo CD's Applications.

    `others` are the plain objects and those of extensions. `specs` are the places of the objects of all specs.
    """
    charts = [*_crds(platform), *_reporters(sorted({each.home for each in specs} - {""}), platform)]
    used = specs | places(others) | _places(charts)
    charts += _namespaces(used, platform)
    return [*charts, *_argocd(used | _places(charts), platform)]


def settings(program: Program, render: Rendering) -> list[OutputFile]:
    """Return the patch that an administrator merges into Argo CD's settings by hand; empty without `argocd.repoURL`.

    The suffix of its file name excludes it from every sync.
    """
    argocd_settings = program.platform.argocd
    if argocd_settings.repo_url is None:
        return []
    chart = ChartSource("argocd-settings", (settings_patch(),), (), argocd_settings.namespace)
    placed = PlacedChart(chart, lambda manifest: f"{manifest.stem}.patch.txt")
    return [replace(each, command=program.command) for each in _outputs([placed], program, render)]


def _outputs(charts: Sequence[PlacedChart], program: Program, render: Rendering) -> list[OutputFile]:
    rendered = render([each.chart for each in charts])
    return [
        OutputFile(path=placed.path(manifest), manifest=manifest, spec=None, source=program.platform_file)
        for placed, chart in zip(charts, rendered, strict=True)
        for manifest in chart.manifests
    ]


def _places(charts: Sequence[PlacedChart]) -> set[OutputPlace]:
    found = ((placed, each) for placed in charts for each in completed(placed.chart).manifests)
    return {OutputPlace.of(placed.path(each), each.id, None) for placed, each in found}


def _in(folder: str, chart: ChartSource) -> PlacedChart:
    return PlacedChart(chart, lambda manifest: output_layout.in_folder(folder, manifest))


def _crds(platform: Platform) -> list[PlacedChart]:
    """Return the CRDs of all kinds, even unused ones: removing a CRD from a cluster removes every object of its kind.

    Empty if the platform file says that the CRDs are installed otherwise.
    """
    if platform.argocd.crds == "external":
        return []
    found = tuple(Manifest(each, each["metadata"]["name"], clustered=True) for each in custom_resource_definitions())
    return [_in(paths.CRDS, ChartSource(paths.CRDS, found))]


def _reporters(homes: Sequence[str], platform: Platform) -> Iterator[PlacedChart]:
    """Yield the chart of a reporter for each namespace of specs (`homes`), unless the platform switches it off."""
    if not platform.reporter:
        return
    site = Site(platform, version("stowplan"))
    for home in homes:
        yield _in(f"{home}/{reporter.FOLDER}", reporter.chart(home, site))


def _namespaces(places: Set[OutputPlace], platform: Platform) -> list[PlacedChart]:
    if not platform.namespaces.emit:
        return []
    used = sorted({each.namespace for each in places} - {"", *_NOT_OURS})
    level = platform.namespaces.pod_security
    wanted = tuple(namespace(name, level) for name in used if not name.startswith(_SYSTEM))
    return [_in(paths.CLUSTER, ChartSource("namespaces", wanted, labels=LABELS))]


def _argocd(places: Set[OutputPlace], platform: Platform) -> list[PlacedChart]:
    """Return an AppProject, an Application for each top-level folder, and the root Application that syncs these.

    The root Application has an AppProject too, unless the platform file names one. Empty without `argocd.repoURL`.
    """
    settings = platform.argocd
    if settings.repo_url is None:
        return []
    folders = sorted({each.folder for each in places})
    home = _permitted_namespace(platform, {each.namespace for each in places})
    own = [argocd.app_project(platform), *(_application(folder, home, platform) for folder in folders)]
    root = {paths.ROOT: argocd.root_application(settings, paths.ARGOCD)}
    if settings.root_project is None:
        root[paths.ROOT_PROJECT] = argocd.root_project(settings)
    apart = {(each.kind, each.stem): path for path, each in root.items()}

    def path(manifest: Manifest) -> str:
        return apart.get((manifest.kind, manifest.stem)) or output_layout.in_folder(paths.ARGOCD, manifest)

    return [PlacedChart(argocd.chart(settings, own, list(root.values())), path)]


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
