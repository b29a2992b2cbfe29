"""The table of kinds: every kind that users write and that has a CRD.

A kind is a `CustomResource`, whose class variables hold its facts. Lists of kinds elsewhere derive from this table.
"""

from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.training_job import TrainingJob

_MODELS: tuple[type[CustomResource], ...] = (
    DataCube,
    Dataset,
    DatasetTask,
    MxJob,
    PaddleJob,
    SampleJob,
    SampleSet,
    Training,
    TrainingJob,
)

KINDS = {model.__name__: model for model in sorted(_MODELS, key=lambda model: model.__name__)}
"""The kinds by name, sorted by name."""

DATASET_KINDS = frozenset(model.DATASETS.kind for model in KINDS.values() if model.DATASETS)
"""Names of the kinds that are datasets, to which other kinds refer."""

TRAINING_KINDS = frozenset(name for name, model in KINDS.items() if model.TRAINS)
"""Names of the kinds whose pods train: users bring the templates of these pods."""

TASK_KINDS = {model.DATASETS.kind: name for name, model in KINDS.items() if model.DATASETS and not model.TRAINS}
"""The kind of tasks on a dataset, by the kind of the dataset."""

TASK_FIELDS = {name: model.TASK_FIELDS for name, model in KINDS.items() if model.TASK_FIELDS}
"""Names of the fields of a status with the first Job and with the `AttemptCounts`, for each kind of task on a dataset."""
