"""Input and result of lowering one spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from stowplan.library.ir.data import Origin, Site
from stowplan.library.ir.gate import Wait
from stowplan.library.manifest import Unit
from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform

if TYPE_CHECKING:
    from stowplan.schema.kinds.native.dataset import Dataset
    from stowplan.schema.kinds.sample_set import SampleSet


@dataclass(frozen=True, slots=True)
class Context:
    """The platform, the version of Stowplan, and the datasets that other specs may refer to.

    `datasets` has the datasets of every kind. `sources` has the path of a spec's file by (kind, namespace, name), and
    may lack specs. `refused` has the identities of datasets whose documents have errors: they are not reported as
    missing. No dataset is if the specs are `incomplete`, because a file could not be read.

    `specs` has all specs, which training jobs may run after. `awaited` has what the spec that is lowered runs after, in
    the form in which a gate waits for it; it is empty for specs that do not train.

    `waits` has what gates read of specs that were lowered before, and `lowered` the datasets among them that were only
    lowered because a job waits for them. Both save time alone: a spec is lowered to the same again.
    """

    platform: Platform
    version: str
    datasets: Mapping[SpecId, CustomResource] = field(default_factory=dict)
    sources: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    refused: frozenset[SpecId] = frozenset()
    incomplete: bool = False
    specs: Mapping[SpecId, CustomResource] = field(default_factory=dict)
    awaited: Mapping[SpecId, Wait] = field(default_factory=dict)
    waits: dict[SpecId, Wait] = field(default_factory=dict, compare=False, repr=False)
    lowered: dict[SpecId, "Lowered"] = field(default_factory=dict, compare=False, repr=False)

    @property
    def site(self) -> Site:
        """The platform and the version, for builders and engines."""
        return Site(self.platform, self.version)

    def sample_set(self, namespace: str, name: str) -> "SampleSet | None":
        """Return the SampleSet of this namespace and name; None if there is none."""
        return cast("SampleSet | None", self.datasets.get(SpecId("SampleSet", namespace, name)))

    def dataset(self, namespace: str, name: str) -> "Dataset | None":
        """Return the Dataset of this namespace and name; None if there is none."""
        return cast("Dataset | None", self.datasets.get(SpecId("Dataset", namespace, name)))

    def id(self, model: CustomResource) -> SpecId:
        """Return the identity of a spec, which is in the platform's default namespace if it names none."""
        return SpecId(model.kind, self.namespace(model.metadata.namespace), model.metadata.name)

    def origin(self, spec: SpecId) -> Origin:
        """Return the origin of the objects of a spec, with the path of its file if it is known."""
        return Origin(spec, self.sources.get((spec.kind, spec.namespace, spec.name), ""))

    def namespace(self, given: str | None) -> str:
        """Return the namespace `given` in a spec, or the platform's default if it is None or empty."""
        return given or self.platform.default_namespace


@dataclass(frozen=True, slots=True)
class Lowered:
    """Manifests of one spec, and the findings of lowering, at paths in the spec's document."""

    unit: Unit
    findings: tuple[Finding, ...] = ()
