"""The table of kinds: every kind that users write and that has a CRD.

Each layer has a module with the kind's name: `schema.kinds` its model, `library.dialects` its dialect, and
`agents.reporter.rules` the rules of its status. Lists of kinds elsewhere derive from this table.
"""

from typing import TYPE_CHECKING, Literal

from stowplan.schema.kinds.kind import DatasetReference, Kind

_NATIVE = "stowplan.dev/v1alpha1"
_OPERATOR = "batch.paddlepaddle.org/v1alpha1"
_SAMPLE_SET = ("spec", "sampleSetRef", "name")

_ROWS = (
    Kind("DataCube", "tensorstack.dev/v1beta1"),
    Kind("Dataset", _NATIVE, done="Ready"),
    Kind(
        "DatasetTask",
        _NATIVE,
        datasets=DatasetReference("Dataset", ("spec", "datasetRef", "name"), digest=True),
        task_fields=("run", "partitions"),
    ),
    Kind("MxJob", "mxnet.mlkube.io/v1beta1", trains=True),
    Kind("PaddleJob", "batch.paddlepaddle.org/v1", trains=True, datasets=DatasetReference("SampleSet", _SAMPLE_SET)),
    Kind(
        "SampleJob",
        _OPERATOR,
        datasets=DatasetReference("SampleSet", _SAMPLE_SET, digest=True),
        task_fields=("jobName", "counts"),
    ),
    Kind("SampleSet", _OPERATOR, done="Ready"),
    Kind("Training", _NATIVE, trains=True, datasets=DatasetReference("Dataset", ("spec", "datasets", "*", "name"))),
    Kind("TrainingJob", "paddlepaddle.org/v1alpha1", trains=True),
)

KINDS = {kind.name: kind for kind in sorted(_ROWS, key=lambda kind: kind.name)}
"""The kinds by name, sorted by name."""

DATASET_KINDS = frozenset(kind.datasets.kind for kind in KINDS.values() if kind.datasets)
"""Names of the kinds that are datasets, to which other kinds refer."""

TRAINING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.trains)
"""Names of the kinds whose pods train: users bring the templates of these pods."""

TASK_KINDS = {kind.datasets.kind: kind.name for kind in KINDS.values() if kind.datasets and not kind.trains}
"""The kind of tasks on a dataset, by the kind of the dataset."""

TASK_FIELDS = {kind.name: kind.task_fields for kind in KINDS.values() if kind.task_fields}
"""Names of the fields of a status with the first Job and with the `AttemptCounts`, for each kind of task on a dataset."""

if TYPE_CHECKING:
    KindName = str
else:
    KindName = Literal[tuple(KINDS)]
"""The name of a kind, as a field of a model. Type checkers cannot follow a type that is made at run time."""
