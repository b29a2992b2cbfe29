"""Constructs of all kinds, for a user's cdk8s app."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar, Generic, TypeVar, cast

from cdk8s import Chart
from constructs import Construct

from stowplan.library.constructs import shapes
from stowplan.library.constructs.manifest_set import ManifestSet
from stowplan.library.constructs.reading import read_spec, refuse_errors
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.native import training
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform

Model = TypeVar("Model", bound=CustomResource)


class SpecConstruct(ManifestSet, Generic[Model]):
    """A spec of the kind `KIND` and the objects that it compiles to, the same as from `stowplan synth`.

    `spec` is the model, or the document as parsed from YAML. `platform` is the content of `stowplan.yaml`, by default
    its defaults. A spec without a namespace takes that of the chart, else the platform's default. `source` is the file
    that the objects' annotation `stowplan.dev/source` names. `datasets` are the models of the SampleSets or Datasets to
    which the spec refers.
    `findings` holds all findings that are no errors. Raises `SpecError` with every error of the spec, or of a dataset
    for which it waits.
    """

    KIND: ClassVar[type[CustomResource]]
    model: Model

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: Model | Mapping[str, Any],
        platform: Platform | None = None,
        source: str = "",
        datasets: Sequence[CustomResource] = (),
    ) -> None:
        self.platform = platform or Platform()
        model, notes = read_spec(cast("type[Model]", self.KIND), spec, self.platform)
        self.model = _placed(model, scope, self.platform)
        key = (self.model.kind, self.model.metadata.namespace or "", self.model.metadata.name)
        if isinstance(self.model, data_cube.DataCube):
            refuse_errors(str(SpecId(*key)), shapes.findings(self.model))
        context = Context(
            platform=self.platform,
            version=version("stowplan"),
            datasets={SpecId(each.kind, each.metadata.namespace or "", each.metadata.name): each for each in datasets},
            sources={key: source} if source else {},
        )
        lowered = lower(self.model, context)
        for waited_for, other in context.lowered.items():
            refuse_errors(str(waited_for), other.findings)
        refuse_errors(str(lowered.unit.spec), lowered.findings)
        self.findings: tuple[Finding, ...] = (*notes, *lowered.findings)
        super().__init__(scope, construct_id, unit=lowered.unit)


class SampleSet(SpecConstruct[sample_set.SampleSet]):
    """A SampleSet; for the parameters see `SpecConstruct`."""

    KIND = sample_set.SampleSet


Dataset = SampleSet | sample_set.SampleSet | Mapping[str, Any]
"""A SampleSet in one of three forms: a construct, a model, or a document as parsed from YAML."""


class SampleJob(SpecConstruct[sample_job.SampleJob]):
    """A SampleJob; `sample_set` is the dataset that it works on, from which `platform` takes its default."""

    KIND = sample_job.SampleJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: sample_job.SampleJob | Mapping[str, Any],
        sample_set: Dataset,
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        known = platform or _platform_of(sample_set)
        datasets = [_model_of(sample_set, scope, known)]
        super().__init__(scope, construct_id, spec=spec, platform=known, source=source, datasets=datasets)


class PaddleJob(SpecConstruct[paddle_job.PaddleJob]):
    """A PaddleJob; `sample_set` is the dataset that its pods mount, from which `platform` takes its default."""

    KIND = paddle_job.PaddleJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: paddle_job.PaddleJob | Mapping[str, Any],
        sample_set: Dataset | None = None,
        platform: Platform | None = None,
        source: str = "",
    ) -> None:
        known = platform or _platform_of(sample_set)
        datasets = [_model_of(sample_set, scope, known)] if sample_set is not None else []
        super().__init__(scope, construct_id, spec=spec, platform=known, source=source, datasets=datasets)


class TrainingJob(SpecConstruct[training_job.TrainingJob]):
    """A TrainingJob; for the parameters see `SpecConstruct`."""

    KIND = training_job.TrainingJob


class MxJob(SpecConstruct[mx_job.MxJob]):
    """An MxJob; for the parameters see `SpecConstruct`."""

    KIND = mx_job.MxJob


class Training(SpecConstruct[training.Training]):
    """A Training; for the parameters see `SpecConstruct`."""

    KIND = training.Training


class DataCube(SpecConstruct[data_cube.DataCube]):
    """A DataCube; for the parameters see `SpecConstruct`."""

    KIND = data_cube.DataCube


def _platform_of(dataset: Dataset | None) -> Platform:
    return dataset.platform if isinstance(dataset, SampleSet) else Platform()


def _model_of(dataset: Dataset, scope: Construct, platform: Platform) -> sample_set.SampleSet:
    if isinstance(dataset, SampleSet):
        return dataset.model
    return _placed(read_spec(sample_set.SampleSet, dataset, platform)[0], scope, platform)


def _placed(model: Model, scope: Construct, platform: Platform) -> Model:
    """Return the model with a namespace: its own, else that of the chart of `scope`, else the platform's default."""
    if model.metadata.namespace:
        return model
    namespace = Chart.of(scope).namespace or platform.default_namespace
    metadata = model.metadata.model_copy(update={"namespace": namespace})
    return model.model_copy(update={"metadata": metadata})
