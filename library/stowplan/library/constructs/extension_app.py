"""The cdk8s app that an extension builds in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cdk8s import App, Chart

from stowplan.library.composition.tree import object_id
from stowplan.library.constructs.charts import SpecChart
from stowplan.library.constructs.manifest_set import ManifestSet
from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Displaced:
    """A compiled object that is no longer in the output, because an extension removed it or changed its identity.

    The identity consists of API group, kind, namespace and name.
    """

    spec: SpecId
    object: ObjectId


@dataclass(frozen=True, slots=True)
class Extended:
    """Result of an extension: all units in their order, its own objects, and the compiled objects that it displaced."""

    units: tuple[Unit, ...]
    added: tuple[Json, ...]
    displaced: tuple[Displaced, ...]


class ExtensionApp(App):
    """A cdk8s `App` from which an extension reaches the specs.

    Charts and objects that are made below it become part of the output. A spec's constructs are made when `spec` is
    called for it; until then the tree does not hold them.
    """

    def __init__(self, units: Sequence[Unit]) -> None:
        super().__init__()
        self._units = {unit.spec: unit for unit in units}
        self._charts: dict[SpecId, SpecChart] = {}

    def spec(self, kind: str, namespace: str, name: str) -> ManifestSet:
        """Return the construct with the objects of a spec; patches may change these objects.

        Raises `LookupError` with the nearest spec if the spec does not exist.
        """
        identity = SpecId(kind, namespace, name)
        if identity not in self._units:
            raise LookupError(f"There is no {identity}. {did_you_mean(str(identity), map(str, self._units))}")
        if identity not in self._charts:
            self._charts[identity] = SpecChart(self, self._units[identity])
        return self._charts[identity].manifests

    def synth(self) -> None:
        """Raise `RuntimeError`: Stowplan renders the app and writes the files."""
        raise RuntimeError("An extension must not call synth(): Stowplan renders the app and writes the files.")

    def extended(self) -> Extended:
        """Render the app and return the result. Objects have the order of the construct tree.

        Errors of cdk8s and of the validations that constructs declare are raised unchanged.
        """
        rendered: dict[Chart, list[Json]] = {chart: chart.to_json() for chart in self.charts}
        units, added, displaced = dict(self._units), list[Json](), list[Displaced]()
        for spec, chart in self._charts.items():
            kept, others = _match(chart.carried, rendered.pop(chart, []))
            added += others
            displaced += [Displaced(spec, each.id) for each in chart.carried if each.id not in kept]
            units[spec] = _replace_bodies(units[spec], kept)
        added += [body for bodies in rendered.values() for body in bodies]
        return Extended(tuple(units.values()), tuple(added), tuple(displaced))


def _match(carried: Sequence[Manifest], bodies: Sequence[Json]) -> tuple[dict[ObjectId, Json], list[Json]]:
    """Split rendered `bodies`: those with the identity of a manifest in `carried`, by identity, and the others.

    Of several bodies with one identity, all but the first are others.
    """
    identities = {manifest.id for manifest in carried}
    kept: dict[ObjectId, Json] = {}
    others = []
    for body in bodies:
        identity = object_id(body)
        if identity in identities and identity not in kept:
            kept[identity] = body
        else:
            others.append(body)
    return kept, others


def _replace_bodies(unit: Unit, bodies: Mapping[ObjectId, Json]) -> Unit:
    manifests = (replace(each, body=bodies.get(each.id, each.body)) for each in unit.manifests)
    return replace(unit, manifests=tuple(manifests))
