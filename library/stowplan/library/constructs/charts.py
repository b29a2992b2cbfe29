"""From units to cdk8s charts and back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cdk8s import App, Chart
from constructs import Construct

from stowplan.library.constructs.crossing import crosses
from stowplan.library.constructs.manifest_set import ManifestSet
from stowplan.library.constructs.node import release
from stowplan.library.manifest import Json, Manifest, Unit, group_of
from stowplan.schema.meta import ObjectId, SpecId

BATCH = 50
"""Charts in one App. cdk8s looks at the whole App for each chart that it renders, so one App for all is quadratic."""


def chart_id(spec: SpecId) -> str:
    """The id of a spec's chart: `<namespace>.<kind>-<name>`. No two specs share one: a namespace holds no dot."""
    return f"{spec.namespace}.{spec.kind.lower()}-{spec.name}"


class SpecChart(Chart):
    """The chart of one spec, with its objects in a `ManifestSet` that has the spec's name.

    A manifest that cdk8s cannot carry is left out: what is in it, Kubernetes refuses too, and the check stage says so.
    """

    def __init__(self, scope: Construct, unit: Unit) -> None:
        super().__init__(scope, chart_id(unit.spec))
        self._carried = tuple(manifest for manifest in unit.manifests if crosses(manifest.body))
        self._manifests = ManifestSet(self, unit.spec.name, unit=replace(unit, manifests=self._carried))

    @property
    def manifests(self) -> ManifestSet:
        """The objects of the spec."""
        return self._manifests

    @property
    def carried(self) -> tuple[Manifest, ...]:
        """The manifests that the objects were made from."""
        return self._carried

    @property
    def proxies(self) -> Iterator[Any]:
        """Everything that this chart keeps in Node, for `release`."""
        yield self
        yield from self._manifests.proxies


def compose(units: Sequence[Unit], *, batch: int = BATCH) -> tuple[Unit, ...]:
    """Put every unit into a chart of its own and render it; the order stays.

    The result equals the input: a construct tree is another view of the same manifests. Anything else is a bug of
    Stowplan, and a `RuntimeError`.
    """
    composed: list[Unit] = []
    finished: list[Any] = []
    for start in range(0, len(units), batch):
        release(finished)
        app = App()
        charts = [SpecChart(app, unit) for unit in units[start : start + batch]]
        composed += [_render(chart, unit) for chart, unit in zip(charts, units[start : start + batch], strict=True)]
        finished = [app, *(proxy for chart in charts for proxy in chart.proxies)]
    return tuple(composed)


def _render(chart: SpecChart, unit: Unit) -> Unit:
    """The unit with the bodies that cdk8s renders."""
    rendered = {object_id(body): body for body in chart.to_json()}
    for manifest in chart.carried:
        if rendered.get(manifest.id) != manifest.body:
            raise RuntimeError(f"cdk8s rendered {manifest.id} otherwise than it was built")
    return replace(
        unit,
        manifests=tuple(replace(each, body=rendered.get(each.id, each.body)) for each in unit.manifests),
    )


def object_id(body: Json) -> ObjectId:
    """The identity of a rendered object; parts that are absent or no text are empty."""
    metadata = body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), fields.get("namespace"), fields.get("name"))
    version, kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    return ObjectId(group_of(version), kind, namespace, name)
