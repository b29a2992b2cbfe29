"""The cdk8s app in which specs are constructs: that of an extension, and the base of apps of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cdk8s import ApiObject, App, Chart
from constructs import Construct, IConstruct

from stowplan.library.composition.tree import changed, chart_id, headed, object_id
from stowplan.library.constructs.charts import SpecChart
from stowplan.library.constructs.written import Checks, Displaced, Extended, Place, Written
from stowplan.library.dialects.shared.context import Context
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import DATASET_KINDS
from stowplan.schema.meta import ObjectId, SpecId

_STARTING = frozenset({*STARTING_KINDS, "CronJob"})


class SpecApp(App):
    """A cdk8s `App` that knows the platform, and the specs that its constructs make or that were there before.

    Charts and objects that are made below it become part of the output. The constructs of a spec that was there before
    are made when `spec` is called for it; until then the tree does not hold them. `root` is the repository's folder.
    """

    def __init__(self, context: Context, units: Sequence[Unit], root: Path, checks: Checks) -> None:
        super().__init__()
        self.checks = checks
        self.checked_later = False
        """Whether the checks of specs come after validations, as in a synthesis, which knows the places of problems."""
        self._context, self._root = context, root
        self._units = {unit.spec: unit for unit in units}
        self._charts: dict[SpecId, SpecChart] = {}
        self._made: dict[SpecId, Written] = {}

    @staticmethod
    def around(scope: Construct, kind: str) -> "SpecApp":
        """Return the app of a construct, which is a `kind`. Raises `TypeError` if it is not one of Stowplan's."""
        app = scope.node.root
        if not isinstance(app, SpecApp):
            message = f"A {kind} has to be in an app of Stowplan, which knows the platform and keeps what has run."
            raise TypeError(f"{message} Make the app with `stowplan.compiler.app.App` in place of `cdk8s.App`.")
        return app

    @property
    def context(self) -> Context:
        """The platform, and the specs that are known now."""
        return self._context

    def located(self, model: CustomResource, place: Place) -> Context:
        """Return the context in which a spec from a line of a program is compiled."""
        spec = self._context.id(model)
        key = (spec.kind, spec.namespace, spec.name)
        return replace(self._context, sources={**self._context.sources, key: place.file})

    def place(self) -> Place:
        """Return the line of the user's file that is running now."""
        return Place.now(self._root)

    def add(self, chart: SpecChart, model: CustomResource, unit: Unit, written: Written) -> None:
        """Add the spec of a construct. Raises `ValueError` if there is one of this kind, namespace and name already."""
        spec = unit.spec
        if spec in self._units:
            raise ValueError(f"There is a {spec} already. Give one of them another name or namespace.")
        self._units[spec], self._charts[spec], self._made[spec] = unit, chart, written
        datasets = {**self._context.datasets, spec: model} if spec.kind in DATASET_KINDS else self._context.datasets
        self._context = replace(self._context, datasets=datasets, specs={**self._context.specs, spec: model})

    def spec(self, kind: str, namespace: str, name: str) -> SpecChart:
        """Return the construct with the objects of a spec; patches may change these objects.

        Raises `LookupError` with the nearest spec if the spec does not exist.
        """
        identity = SpecId(kind, namespace, name)
        if identity not in self._units:
            raise LookupError(f"There is no {identity}. {did_you_mean(str(identity), map(str, self._units))}")
        if identity not in self._charts:
            self._charts[identity] = SpecChart(self, chart_id(identity), unit=self._units[identity])
        return self._charts[identity]

    def patched(self, chart: SpecChart) -> Unit:
        """Return what a spec compiles to, with the patches of its objects; objects that were removed are left out."""
        bodies = [body for own in _rendered(chart).values() for body in own]
        carried = _ids(chart)
        return self._patched(chart, carried, _match(carried, bodies)[0])

    def synth(self) -> None:
        """Raise `RuntimeError`: the app of an extension is part of another synthesis."""
        raise RuntimeError("An extension must not call synth(): Stowplan renders the app and writes the files.")

    def extended(self) -> Extended:
        """Render the app and return the result. Objects have the order of the construct tree.

        Raises `RuntimeError` with what validations of constructs say, and `ValueError` for a dependency between
        constructs that run something. Errors of cdk8s are raised unchanged.
        """
        self._refuse_waves()
        self._validate()
        rendered = _rendered(self)
        units, added, displaced = dict(self._units), list[Json](), list[Displaced]()
        for spec, chart in self._charts.items():
            carried = _ids(chart)
            kept, others = _match(carried, [body for each in chart.charts for body in rendered.pop(each, [])])
            added += others
            if spec not in self._made:
                displaced += [Displaced(spec, each) for each in carried if each not in kept]
            units[spec] = self._patched(chart, carried, kept)
        added += [body for bodies in rendered.values() for body in bodies]
        made = tuple(self._made.values())
        return Extended(tuple(units.values()), self._context, made, tuple(added), tuple(displaced))

    def _patched(self, chart: SpecChart, carried: Sequence[ObjectId], bodies: Mapping[ObjectId, Json]) -> Unit:
        own = chart.spec_id in self._made

        def patched(manifest: Manifest) -> Manifest | None:
            whole = headed(manifest, chart.source)
            if own and whole.id in carried and whole.id not in bodies:
                return None
            return replace(whole, body=bodies.get(whole.id, whole.body))

        return replace(self._units[chart.spec_id], parts=changed(chart.source, patched).parts)

    def _validate(self) -> None:
        self.checked_later = True
        try:
            said = [f"{each.node.path}: {message}" for each in self.node.find_all() for message in each.node.validate()]
        finally:
            self.checked_later = False
        if said:
            raise RuntimeError("Validation failed: " + "; ".join(said))

    def _refuse_waves(self) -> None:
        for construct in self.node.find_all():
            for other in construct.node.dependencies:
                if _runs(construct) and _runs(other):
                    message = f"{construct.node.path} runs something, and so does {other.node.path} that it depends on."
                    hint = "Argo CD would hold the sync open until that has ended. Jobs wait by `wait` or `run_after`."
                    raise ValueError(f"{message} {hint}")


def _rendered(construct: IConstruct) -> dict[Chart, list[Json]]:
    """Return the objects in a construct by chart. `Chart.to_json` would validate the whole app for each chart."""
    found: dict[Chart, list[Json]] = {}
    for each in construct.node.find_all():
        if isinstance(each, ApiObject):
            found.setdefault(each.chart, []).append(each.to_json())
    return found


def _ids(chart: SpecChart) -> list[ObjectId]:
    return [headed(each, chart.source).id for each in chart.carried]


def _runs(construct: IConstruct) -> bool:
    """Return whether a construct has an object that starts pods which end."""
    objects = (each for each in construct.node.find_all() if isinstance(each, ApiObject))
    return any(each.kind in _STARTING for each in objects)


def _match(carried: Sequence[ObjectId], bodies: Sequence[Json]) -> tuple[dict[ObjectId, Json], list[Json]]:
    """Split rendered `bodies`: those with an identity in `carried`, by identity, and the others.

    Of several bodies with one identity, all but the first are others.
    """
    kept: dict[ObjectId, Json] = {}
    others = []
    for body in bodies:
        identity = object_id(body)
        if identity in carried and identity not in kept:
            kept[identity] = body
        else:
            others.append(body)
    return kept, others
