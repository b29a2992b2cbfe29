"""The kinds as constructs for a cdk8s app of one's own."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, TypeVar, cast

from cdk8s import Chart
from constructs import Construct

from stowplan.library.constructs import shapes
from stowplan.library.constructs.manifest_set import ManifestSet
from stowplan.library.constructs.reading import read_spec, refuse_errors
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Unit
from stowplan.schema.diagnostics import Finding
from stowplan.schema.frozen import dataclass
from stowplan.schema.kinds import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform

Spec = (
    sample_set.SampleSet
    | sample_job.SampleJob
    | paddle_job.PaddleJob
    | training_job.TrainingJob
    | mx_job.MxJob
    | data_cube.DataCube
)
AnySpec = TypeVar("AnySpec", bound=Spec)


class SampleSet(ManifestSet):
    """A SampleSet and everything that it compiles to; the same objects as `stowplan synth` writes.

    `spec` is the model, or the document as YAML gives it. `platform` is what `stowplan.yaml` says; its defaults
    without it. A spec without a namespace takes that of the chart, else the platform's default. `source` is the file
    that the objects' annotation `stowplan.dev/source` names. `findings` is what is no error but worth knowing. Raises
    `SpecError` with every error of the spec.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: sample_set.SampleSet | Mapping[str, Any],
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or Platform()
        given = _Given(scope, self.platform, source)
        self.model, unit, self.findings = _compiled(sample_set.SampleSet, spec, given)
        super().__init__(scope, construct_id, unit=unit)


class SampleJob(ManifestSet):
    """A SampleJob and everything that it compiles to; the same objects as `stowplan synth` writes.

    `sample_set` is the dataset that `spec` refers to: a `SampleSet` construct, a model, or a document as YAML gives
    it. `platform` defaults to that of the construct. For the rest see `SampleSet`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: sample_job.SampleJob | Mapping[str, Any],
        sample_set: "SampleSet | sample_set.SampleSet | Mapping[str, Any]",
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or (sample_set.platform if isinstance(sample_set, SampleSet) else Platform())
        dataset = _dataset(sample_set, scope, self.platform)
        self.model, unit, self.findings = _compiled(
            sample_job.SampleJob, spec, _Given(scope, self.platform, source, (dataset,))
        )
        super().__init__(scope, construct_id, unit=unit)


class PaddleJob(ManifestSet):
    """A PaddleJob and everything that it compiles to; the same objects as `stowplan synth` writes.

    `sample_set` is the dataset that `spec` refers to, if it does, in one of the forms that `SampleJob` takes. For the
    rest see there.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: paddle_job.PaddleJob | Mapping[str, Any],
        sample_set: "SampleSet | sample_set.SampleSet | Mapping[str, Any] | None" = None,
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or (sample_set.platform if isinstance(sample_set, SampleSet) else Platform())
        datasets = (_dataset(sample_set, scope, self.platform),) if sample_set is not None else ()
        self.model, unit, self.findings = _compiled(
            paddle_job.PaddleJob, spec, _Given(scope, self.platform, source, datasets)
        )
        super().__init__(scope, construct_id, unit=unit)


class TrainingJob(ManifestSet):
    """A TrainingJob and everything that it compiles to; for the rest see `SampleSet`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: training_job.TrainingJob | Mapping[str, Any],
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or Platform()
        self.model, unit, self.findings = _compiled(
            training_job.TrainingJob, spec, _Given(scope, self.platform, source)
        )
        super().__init__(scope, construct_id, unit=unit)


class MxJob(ManifestSet):
    """An MxJob and everything that it compiles to; for the rest see `SampleSet`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: mx_job.MxJob | Mapping[str, Any],
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or Platform()
        given = _Given(scope, self.platform, source)
        self.model, unit, self.findings = _compiled(mx_job.MxJob, spec, given)
        super().__init__(scope, construct_id, unit=unit)


class DataCube(ManifestSet):
    """A DataCube and everything that it compiles to; for the rest see `SampleSet`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: data_cube.DataCube | Mapping[str, Any],
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        self.platform = platform or Platform()
        given = _Given(scope, self.platform, source)
        self.model, unit, self.findings = _compiled(data_cube.DataCube, spec, given)
        super().__init__(scope, construct_id, unit=unit)


def _dataset(
    given: SampleSet | sample_set.SampleSet | Mapping[str, Any], scope: Construct, platform: Platform
) -> sample_set.SampleSet:
    if isinstance(given, SampleSet):
        return given.model
    return _placed(read_spec(sample_set.SampleSet, given, platform)[0], scope, platform)


@dataclass(frozen=True, slots=True)
class _Given:
    """What every construct is given beside its spec."""

    scope: Construct
    platform: Platform
    source: str
    datasets: tuple[sample_set.SampleSet, ...] = ()


def _compiled(
    kind: type[AnySpec], spec: AnySpec | Mapping[str, Any], given: _Given
) -> tuple[AnySpec, Unit, tuple[Finding, ...]]:
    """The model with a namespace, its unit, and what is worth knowing about the spec though it is no error."""
    model, notes = read_spec(kind, spec, given.platform)
    placed = _placed(model, given.scope, given.platform)
    unit, found = _lower(placed, given.platform, given.source, given.datasets)
    return placed, unit, (*notes, *found)


def _placed(model: AnySpec, scope: Construct, platform: Platform) -> AnySpec:
    """The model with a namespace."""
    if model.metadata.namespace:
        return model
    namespace = Chart.of(scope).namespace or platform.default_namespace
    metadata = model.metadata.model_copy(update={"namespace": namespace})
    return cast("AnySpec", model.model_copy(update={"metadata": metadata}))


def _lower(
    model: Spec,
    platform: Platform,
    source: str,
    datasets: tuple[sample_set.SampleSet, ...],
) -> tuple[Unit, tuple[Finding, ...]]:
    """The unit, and what is worth knowing about the spec though it is no error."""
    key = (model.kind, model.metadata.namespace or "", model.metadata.name)
    if isinstance(model, data_cube.DataCube):
        refuse_errors(str(SpecId(*key)), shapes.findings(model))
    context = Context(
        platform=platform,
        version=version("stowplan"),
        sample_sets={(each.metadata.namespace or "", each.metadata.name): each for each in datasets},
        sources={key: source} if source else {},
    )
    lowered = lower(model, context)
    refuse_errors(str(lowered.unit.spec), lowered.findings)
    return lowered.unit, lowered.findings
