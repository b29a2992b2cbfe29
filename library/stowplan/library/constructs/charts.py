"""The chart of one spec."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk8s import ApiObject, App, Chart, JsonPatch
from constructs import Construct

from stowplan.library.composition.rendering import can_be_carried
from stowplan.library.composition.tree import CLUSTER, TreeNode, chart_of, nodes
from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.meta import SpecId

ObjectKey = tuple[str, str]
"""Kind and name of an object of a spec; outside the spec's namespace, the name is `namespace/name`."""


class SpecChart(Chart):
    """The chart of one spec, with a construct for each of its parts, and their objects as `ApiObject`s.

    Objects have the manifests' own names, never generated ones. The chart gives them the namespace and the labels of
    the spec. Objects without a namespace are in the chart `cluster` in it. A manifest that cdk8s would not render
    unchanged is left out (see `can_be_carried`): Kubernetes refuses it too, and the check stage reports it. Raises
    `RuntimeError` when `construct_id` is taken.
    """

    def __init__(self, scope: Construct, construct_id: str, *, unit: Unit) -> None:
        self.source = source = chart_of(unit)
        around = {} if isinstance(scope, App) else dict(Chart.of(scope).labels)
        labels = {**around, **source.labels}
        super().__init__(scope, construct_id, namespace=source.namespace, labels=labels)
        self._spec_id, self._labels = unit.spec, labels
        self.carried = list[Manifest]()
        self.charts: tuple[Chart, ...] = (self,)
        self._objects: dict[ObjectKey, ApiObject] = {}
        own, cluster = nodes(source)
        self._fill(self, own)
        if cluster.objects or cluster.parts:
            self.charts = (self, Chart(self, CLUSTER, labels=labels))
            self._fill(self.charts[1], cluster)

    @property
    def spec_id(self) -> SpecId:
        """The spec that these objects were compiled from."""
        return self._spec_id

    @property
    def objects(self) -> Mapping[ObjectKey, ApiObject]:
        """The objects by (kind, name), or by (kind, `namespace/name`) for objects outside the spec's namespace."""
        return self._objects

    def object(self, kind: str, name: str) -> ApiObject:
        """Return the object of that kind and name, to patch it or to depend on it. `name` is as in `objects`.

        Raises `LookupError` with the nearest names if no object matches.
        """
        found = self._objects.get((kind, name))
        if found is None:
            hint = did_you_mean(f"{kind} {name}", (" ".join(key) for key in self._objects))
            raise LookupError(f"{self._spec_id} has no {kind} {name}. {hint}")
        return found

    def _fill(self, scope: Construct, part: TreeNode) -> None:
        for child_id, manifest in part.objects:
            if can_be_carried(manifest):
                self.carried.append(manifest)
                own = manifest.namespace in ("", self._spec_id.namespace)
                name = manifest.name if own else f"{manifest.namespace}/{manifest.name}"
                self._objects[manifest.kind, name] = self._add(scope, child_id, manifest)
        for each in part.parts:
            self._fill(Construct(scope, each.id), each)

    def _add(self, scope: Construct, child_id: str, manifest: Manifest) -> ApiObject:
        """Add the object of a manifest and return it.

        This takes one call of jsii for the object, one for each field, and one to apply the fields.
        """
        metadata = manifest.body["metadata"]
        given = {key: metadata[key] for key in metadata if _plain(key, metadata[key])}
        added = ApiObject(scope, child_id, api_version=manifest.api_version, kind=manifest.kind, metadata=given)
        patches = list(_patches(manifest.body, self._labels))
        if patches:
            added.add_json_patch(*patches)
        return added


def _plain(key: str, value: Any) -> bool:
    """Return whether cdk8s gets the field `key` of the metadata as an argument, not as a patch.

    `metadata.add_label` and the chart's labels extend only arguments. But cdk8s drops empty maps and lists, and takes a
    map with the key `constructor` for a class.
    """
    if key in ("labels", "annotations"):
        return bool(value) and "constructor" not in value
    return key in ("name", "namespace")


def _patches(body: Json, labels: Mapping[str, str]) -> Iterator[JsonPatch]:
    """Yield a patch for each field of a manifest's body that is not an argument of `ApiObject`.

    Labels that come as a patch take the place of `labels`, those of the chart, and so have these too.
    """
    for key, value in body["metadata"].items():
        if not _plain(key, value):
            given = {**labels, **value} if key == "labels" else value
            yield JsonPatch.add(f"/metadata/{_escape(key)}", given)
    for key, value in body.items():
        if key not in ("apiVersion", "kind", "metadata"):
            yield JsonPatch.add(f"/{_escape(key)}", value)


def _escape(key: str) -> str:
    """Return a dictionary key as a part of a JSON pointer (RFC 6901), with `~` and `/` escaped."""
    return key.replace("~", "~0").replace("/", "~1")
