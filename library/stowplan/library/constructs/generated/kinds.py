"""Constructs of all kinds. Generated: `make generate` writes this file anew."""

from collections.abc import Mapping
from typing import Any, Unpack

from constructs import Construct

from stowplan.library.constructs.generated import props as of_kind
from stowplan.library.constructs.specs import MountedDataset, MountedSampleSet, SpecConstruct
from stowplan.schema.kinds import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.schema.kinds.native import dataset, dataset_task, training

__all__ = [
    "DataCube",
    "Dataset",
    "DatasetTask",
    "MxJob",
    "PaddleJob",
    "SampleJob",
    "SampleSet",
    "Training",
    "TrainingJob",
]


class DataCube(SpecConstruct[data_cube.DataCube]):
    """The kind DataCube; see `SpecConstruct`."""

    KIND = data_cube.DataCube

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: data_cube.DataCube | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.DataCubeProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class Dataset(MountedDataset):
    """The kind Dataset; see `SpecConstruct`."""

    KIND = dataset.Dataset

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: dataset.Dataset | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.DatasetProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class DatasetTask(SpecConstruct[dataset_task.DatasetTask]):
    """The kind DatasetTask; see `SpecConstruct`."""

    KIND = dataset_task.DatasetTask

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: dataset_task.DatasetTask | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.DatasetTaskProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class MxJob(SpecConstruct[mx_job.MxJob]):
    """The kind MxJob; see `SpecConstruct`."""

    KIND = mx_job.MxJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: mx_job.MxJob | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.MxJobProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class PaddleJob(SpecConstruct[paddle_job.PaddleJob]):
    """The kind PaddleJob; see `SpecConstruct`."""

    KIND = paddle_job.PaddleJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: paddle_job.PaddleJob | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.PaddleJobProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class SampleJob(SpecConstruct[sample_job.SampleJob]):
    """The kind SampleJob; see `SpecConstruct`."""

    KIND = sample_job.SampleJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: sample_job.SampleJob | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.SampleJobProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class SampleSet(MountedSampleSet):
    """The kind SampleSet; see `SpecConstruct`."""

    KIND = sample_set.SampleSet

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: sample_set.SampleSet | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.SampleSetProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class Training(SpecConstruct[training.Training]):
    """The kind Training; see `SpecConstruct`."""

    KIND = training.Training

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: training.Training | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.TrainingProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)


class TrainingJob(SpecConstruct[training_job.TrainingJob]):
    """The kind TrainingJob; see `SpecConstruct`."""

    KIND = training_job.TrainingJob

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: training_job.TrainingJob | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.TrainingJobProps],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)
