"""Conversion of a unit to a cdk8s chart that Python code can change."""

from dataclasses import replace

from cdk8s import Chart
from constructs import Construct

from stowplan.library.composition.rendering import can_be_carried
from stowplan.library.composition.tree import chart_id
from stowplan.library.constructs.manifest_set import ManifestSet
from stowplan.library.manifest import Manifest, Unit


class SpecChart(Chart):
    """The chart of one spec. Its objects are in a `ManifestSet` with the spec's name.

    A manifest that cdk8s would not render unchanged is left out (see `can_be_carried`). Kubernetes refuses it too, and
    the check stage reports it.
    """

    def __init__(self, scope: Construct, unit: Unit) -> None:
        super().__init__(scope, chart_id(unit.spec))
        self._carried = tuple(manifest for manifest in unit.manifests if can_be_carried(manifest))
        self._manifests = ManifestSet(self, unit.spec.name, unit=replace(unit, manifests=self._carried))

    @property
    def manifests(self) -> ManifestSet:
        """The construct with the objects of the spec."""
        return self._manifests

    @property
    def carried(self) -> tuple[Manifest, ...]:
        """The manifests that are in the chart: all of the spec except those that `can_be_carried` refuses."""
        return self._carried
