"""The construct tree: charts, the ids in them, and what a chart gives to its objects.

A spec is one chart, and its parts are constructs in it. Objects without a namespace are in a chart of their own in it,
since cdk8s gives the namespace of a chart to all of its objects that name none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from stowplan.library.manifest import Json, Manifest, Part, Unit, group_of
from stowplan.library.values import labels
from stowplan.schema.meta import ObjectId, SpecId

CLUSTER = "cluster"
"""Id of the chart of the objects without a namespace."""


@dataclass(frozen=True, slots=True)
class ChartSource:
    """The input of a chart: its id, its objects and parts, and the namespace and labels that it gives to objects."""

    id: str
    own: tuple[Manifest, ...] = ()
    parts: tuple[Part, ...] = ()
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, in the order of the tree."""
        return (*self.own, *(manifest for part in self.parts for manifest in part.manifests))


class TreeNode(NamedTuple):
    """A construct: its id, its objects with their ids, and the constructs in it."""

    id: str
    objects: list[tuple[str, Manifest]]
    parts: list["TreeNode"]


def chart_id(spec: SpecId) -> str:
    """Return the id of a spec's chart, `<namespace>.<kind>-<name>`. It is unique, since a namespace holds no dot."""
    return f"{spec.namespace}.{spec.kind.lower()}-{spec.name}"


def chart_of(unit: Unit) -> ChartSource:
    """Return the input of the chart for one compiled spec."""
    spec = unit.spec
    return ChartSource(chart_id(spec), (), unit.parts, spec.namespace, labels.of_spec(spec))


def child_id(manifest: Manifest, home: str) -> str:
    """Return the construct id of a manifest in a chart with the namespace `home`: `<kind in lower case>-<stem>`.

    `@<namespace>` follows if the manifest has another namespace. The id holds no content hash, so that the construct
    tree does not change with a hash.
    """
    own = manifest.namespace in ("", home)
    return f"{manifest.kind.lower()}-{manifest.stem}{'' if own else f'@{manifest.namespace}'}"


def nodes(chart: ChartSource) -> tuple[TreeNode, TreeNode]:
    """Return the construct of a chart with the objects that have a namespace, and that with those that have none.

    Parts without objects are left out.
    """

    def node(name: str, part: ChartSource | Part, *, clustered: bool) -> TreeNode:
        below = [node(each.name, each, clustered=clustered) for each in part.parts]
        own = [(child_id(each, chart.namespace), each) for each in part.own if each.clustered is clustered]
        return TreeNode(name, own, [each for each in below if each.objects or each.parts])

    return node(chart.id, chart, clustered=False), node(CLUSTER, chart, clustered=True)


def paths(chart: ChartSource) -> Iterator[tuple[str, Manifest]]:
    """Yield each object with the path of its construct from the app on, such as `ml.dataset-c4/sync/job-c4-sync`."""

    def below(path: str, one: TreeNode) -> Iterator[tuple[str, Manifest]]:
        yield from ((f"{path}/{child}", manifest) for child, manifest in one.objects)
        for each in one.parts:
            yield from below(f"{path}/{each.id}", each)

    own, cluster = nodes(chart)
    yield from below(chart.id, own)
    yield from below(f"{chart.id}/{cluster.id}", cluster)


def changed(chart: ChartSource, change: Callable[[Manifest], Manifest | None]) -> ChartSource:
    """Return the chart with each manifest changed, in their order, or left out where `change` returns None."""

    def all_of(manifests: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
        return tuple(found for each in manifests if (found := change(each)))

    def of_part(part: Part) -> Part:
        return Part(part.name, all_of(part.own), tuple(map(of_part, part.parts)))

    return replace(chart, own=all_of(chart.own), parts=tuple(map(of_part, chart.parts)))


def headed(manifest: Manifest, chart: ChartSource) -> Manifest:
    """Return the manifest with the namespace and the labels of its chart, as cdk8s adds them."""
    metadata = dict(manifest.body["metadata"])
    if chart.namespace and not manifest.clustered:
        metadata.setdefault("namespace", chart.namespace)
    if given := {**chart.labels, **metadata.get("labels", {})}:
        metadata["labels"] = given
    return replace(manifest, body={**manifest.body, "metadata": metadata})


def rendered(unit: Unit) -> Unit:
    """Return the unit as cdk8s renders it, without Node.js."""
    return replace(unit, parts=completed(chart_of(unit)).parts)


def completed(chart: ChartSource) -> ChartSource:
    """Return the chart with what it gives to its objects, without Node.js."""
    return changed(chart, lambda manifest: headed(manifest, chart))


def object_id(body: Json) -> ObjectId:
    """Return API group, kind, namespace and name of a rendered object. A missing or invalid part is empty."""
    metadata = body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), fields.get("namespace"), fields.get("name"))
    version, kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    return ObjectId(group_of(version), kind, namespace, name)
